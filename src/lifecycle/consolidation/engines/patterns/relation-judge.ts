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

/** Whether the weights fit the vectors of this embedder. */
export function canJudgeRelations({ model }: Pick<Embedder, 'model'>): boolean {
  return modelKey(model) === relationWeights.model;
}

export interface Compared {
  readonly topic: Topic;
  readonly vector: Float32Array;
}

export interface RelationHeads {
  /** Whether the two speak of one matter at all, by the surface alone. */
  readonly together: RelationHead;
  readonly changes: RelationHead;
  readonly repeats: RelationHead;
}

export function judgeRelation(known: Compared, said: Compared): Likelihoods {
  return likelihoodsOf(relationWeights, inputOf(known, said));
}

/** Below this cosine two sentences have nothing to do with each other. */
export const leastCosine = 0.25;

export interface PairInput {
  readonly surface: readonly number[];
  readonly vectors: readonly number[];
}

/** Puts the vectors on the scale of the features, so that one penalty fits all weights. */
const vectorScale = 6;

export function inputOf(known: Compared, said: Compared): PairInput {
  const pairs = [...known.vector].map((value, place) => [value, said.vector[place] ?? 0] as const);
  return {
    surface: [cosineOf(known.vector, said.vector), ...featuresOfPair(known.topic, said.topic)],
    vectors: [
      ...pairs.map(([one, other]) => vectorScale * Math.abs(one - other)),
      ...pairs.map(([one, other]) => vectorScale * (other - one)),
    ],
  };
}

export function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}

/**
 * Judges in two steps, because no linear head can do both: whether two sentences belong together, and what the one is to
 * the other if they do. The latter is a softmax over three outcomes, of which the last, neither, has weights of zero.
 */
export function likelihoodsOf(
  { together, changes, repeats }: RelationHeads,
  { surface, vectors }: PairInput,
): Likelihoods {
  if ((surface[0] ?? 0) < leastCosine) return { changes: 0, repeats: 0 };
  const input = [...surface, ...vectors];
  const [one, other] = [Math.exp(sumOf(changes, input)), Math.exp(sumOf(repeats, input))];
  const share = Math.sqrt(1 / (1 + Math.exp(-sumOf(together, surface)))) / (one + other + 1);
  return { changes: one * share, repeats: other * share };
}

function sumOf({ bias, weights }: RelationHead, input: readonly number[]): number {
  return input.reduce((sum, value, place) => sum + value * (weights[place] ?? 0), bias);
}
