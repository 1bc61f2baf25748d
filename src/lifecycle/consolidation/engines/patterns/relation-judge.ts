import { modelKey, type Embedder } from '../../../../embedding/embedder.ts';
import { isPlainChange, type Likelihoods } from './compare.ts';
import { fromThousandths, type Head } from './judge.ts';
import { featuresOfPair } from './pair-features.ts';
import { relationWeights } from './relation-weights.ts';
import { withoutNames, type Topic } from './topic.ts';
import { alignWords, type Alignment, type WordVectors } from './word-vectors.ts';

export type RelationHead = Head;

export interface RelationHeads {
  /** Whether a statement tells of a change at all, by its vector alone. */
  readonly tells: RelationHead;
  /** What is seen in a pair, each by its own sum. */
  readonly hidden: readonly RelationHead[];
  /** By the inputs, and then by what is seen in them. */
  readonly changes: RelationHead;
  readonly repeats: RelationHead;
}

const trained: RelationHeads = {
  tells: fromThousandths(relationWeights.tells),
  hidden: relationWeights.hidden.map(fromThousandths),
  changes: fromThousandths(relationWeights.changes),
  repeats: fromThousandths(relationWeights.repeats),
};

/** Whether the weights fit the vectors of this embedder. */
export function canJudgeRelations({ model }: Pick<Embedder, 'model'>): boolean {
  return modelKey(model) === relationWeights.model;
}

export interface Compared {
  readonly topic: Topic;
  readonly vector: Float32Array;
  readonly words: WordVectors;
}

export interface Candidate extends Compared {
  /** The known sentence is of a later day than the statement, which it may have replaced. */
  readonly isLater: boolean;
}

/** What reads plainly as a change is one, however else the two compare. */
const plainChange: Likelihoods = { changes: 0.95, repeats: 0 };

/** Judges what a statement is to each of the known sentences that are nearest to it. */
export function judgeRelations(known: readonly Candidate[], said: Compared): Likelihoods[] {
  const tells = [said, ...known].map(({ vector }) => sumOf(trained.tells, vector));
  return inputsOf(known, said).map((input, place) => {
    const told = tells[known[place]?.isLater === true ? place + 1 : 0] ?? 0;
    const [older, newer] = known[place]?.isLater === true ? [said, known[place]] : [known[place], said];
    if (older !== undefined && newer !== undefined && isPlainChange(older.topic, newer.topic)) return plainChange;
    return likelihoodsOf(trained, [told, ...input]);
  });
}

/**
 * What the heads judge each pair by, apart from whether the newer tells of a change. A statement changes at most what is
 * nearest to it, so the standing of a sentence among the others counts, by several measures.
 */
export function inputsOf(known: readonly (Compared & { isLater?: boolean })[], said: Compared): number[][] {
  const ordered = known.map((one): [Compared, Compared] => (one.isLater === true ? [said, one] : [one, said]));
  const aligned = ordered.map(([older, newer]) => alignWords(older.words, newer.words));
  const shared = known.map(({ topic }) => weighShared(known, topic, said.topic));
  const measures = known.map((one, place) => {
    const { known: ofOlder, said: ofNewer, rest, noun } = aligned[place] as Alignment;
    const { all, plain } = shared[place] as Shared;
    return [cosineOf(one.vector, said.vector), ofOlder, ofNewer, rest, noun, all, plain];
  });
  return ordered.map(([older, newer], place) => {
    const { all, plain, rarest, rarestPlain } = shared[place] as Shared;
    return [
      cosineOf(older.vector, newer.vector),
      ...standingOf(measures, place),
      all,
      plain,
      rarest,
      rarestPlain,
      ...featuresOfPair(older.topic, newer.topic, aligned[place] as Alignment),
    ];
  });
}

const lastPlace = 5;

/** The place of a sentence among those that are compared, by each measure, and by how much it leads the others. */
function standingOf(measures: readonly (readonly number[])[], place: number): number[] {
  const own = measures[place] ?? [];
  return own.flatMap((value, measure) => {
    const others = measures.flatMap((one, at) => (at === place ? [] : (one[measure] ?? 0)));
    const nearer = others.filter((one) => one > value).length;
    const lead = others.length === 0 ? 0 : value - Math.max(...others);
    return [Math.min(lastPlace, nearer) / lastPlace, lead, nearer === 0 ? 1 : 0];
  });
}

interface Shared {
  readonly all: number;
  readonly plain: number;
  readonly rarest: number;
  readonly rarestPlain: number;
}

/** The words that two sentences share, each counted by how few of the compared sentences have it; with and without names. */
function weighShared(known: readonly Compared[], one: Topic, said: Topic): Shared {
  const weigh = (words: ReadonlySet<string>): number[] =>
    [...words]
      .filter((word) => one.words.has(word))
      .map((word) => 1 / known.filter(({ topic }) => topic.words.has(word)).length);
  const [all, plain] = [weigh(said.words), weigh(withoutNames(said.words, said))];
  const sum = (weights: readonly number[]): number => weights.reduce((total, weight) => total + weight, 0);
  return { all: sum(all), plain: sum(plain), rarest: Math.max(0, ...all), rarestPlain: Math.max(0, ...plain) };
}

/** A softmax over three outcomes, of which the last, neither, has a sum of zero. */
export function likelihoodsOf(
  { hidden, changes, repeats }: Omit<RelationHeads, 'tells'>,
  input: readonly number[],
): Likelihoods {
  const seen = [...input, ...hidden.map((head) => Math.tanh(sumOf(head, input)))];
  const [one, other] = [Math.exp(sumOf(changes, seen)), Math.exp(sumOf(repeats, seen))];
  return { changes: one / (one + other + 1), repeats: other / (one + other + 1) };
}

export function sumOf({ bias, weights }: RelationHead, input: ArrayLike<number>): number {
  return weights.reduce((sum, weight, place) => sum + weight * (input[place] ?? 0), bias);
}

export function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}
