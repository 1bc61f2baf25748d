import { modelKey, type Embedder } from '../../../../embedding/embedder.ts';
import { featuresOfPair } from './pair-features.ts';
import { relationWeights } from './relation-weights.ts';
import type { Topic } from './topic.ts';

/** How likely a statement changes or ends a known one, and how likely it only repeats it. */
export interface Likelihoods {
  readonly changes: number;
  readonly repeats: number;
}

export interface RelationHead {
  readonly bias: number;
  readonly weights: readonly number[];
}

export interface RelationHeads {
  /** Whether a statement tells of a change at all, by its vector alone. */
  readonly tells: RelationHead;
  readonly changes: RelationHead;
  readonly repeats: RelationHead;
}

/** Whether the weights fit the vectors of this embedder. */
export function canJudgeRelations({ model }: Pick<Embedder, 'model'>): boolean {
  return modelKey(model) === relationWeights.model;
}

export interface Compared {
  readonly topic: Topic;
  readonly vector: Float32Array;
}

export interface Candidate extends Compared {
  /** The known sentence is of a later day than the statement, which it may have replaced. */
  readonly isLater: boolean;
}

/** Judges what a statement is to each of the known sentences that are nearest to it. */
export function judgeRelations(known: readonly Candidate[], said: Compared): Likelihoods[] {
  const cosines = known.map(({ vector }) => cosineOf(vector, said.vector));
  return known.map((one, place) => {
    const standing = standingOf(cosines, place);
    const [older, newer] = one.isLater ? [said, one] : [one, said];
    const input = inputOf({ older, newer, standing, tells: sumOf(relationWeights.tells, newer.vector) });
    return likelihoodsOf(relationWeights, input);
  });
}

/** How near a sentence is, its place among those that are compared, and by how much it leads the others. */
export type Standing = readonly [cosine: number, place: number, lead: number, isNearest: number];

const lastPlace = 5;

export function standingOf(cosines: readonly number[], place: number): Standing {
  const cosine = cosines[place] ?? 0;
  const others = cosines.filter((_, at) => at !== place);
  const nearer = others.filter((one) => one > cosine).length;
  const lead = others.length === 0 ? 0 : cosine - Math.max(...others);
  return [cosine, Math.min(lastPlace, nearer) / lastPlace, lead, nearer === 0 ? 1 : 0];
}

/** What the heads judge a pair by. A statement changes at most what is nearest to it, so its standing counts. */
export function inputOf({
  older,
  newer,
  standing,
  tells,
}: {
  older: Pick<Compared, 'topic'>;
  newer: Pick<Compared, 'topic'>;
  standing: Standing;
  tells: number;
}): number[] {
  return [...standing, tells, ...featuresOfPair(older.topic, newer.topic)];
}

/** A softmax over three outcomes, of which the last, neither, has weights of zero. */
export function likelihoodsOf(
  { changes, repeats }: Omit<RelationHeads, 'tells'>,
  input: readonly number[],
): Likelihoods {
  const [one, other] = [Math.exp(sumOf(changes, input)), Math.exp(sumOf(repeats, input))];
  return { changes: one / (one + other + 1), repeats: other / (one + other + 1) };
}

export function sumOf({ bias, weights }: RelationHead, input: ArrayLike<number>): number {
  return weights.reduce((sum, weight, place) => sum + weight * (input[place] ?? 0), bias);
}

export function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}
