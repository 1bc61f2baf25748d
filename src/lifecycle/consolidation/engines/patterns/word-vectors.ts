import type { TokenVectors } from '../../../../embedding/token-vectors.ts';
import type { Role, Topic } from './topic.ts';

/** The words of a sentence that carry meaning, each as the model sees it in its sentence, with what it is there. */
export interface WordVectors {
  readonly roles: readonly Role[];
  /** Of length 1. */
  readonly vectors: readonly Float32Array[];
}

/** Joins the pieces of each word. Words that only join others are left out. */
export function readWordVectors({ roles }: Topic, tokens: TokenVectors | null): WordVectors {
  const words = tokens === null ? [] : joinPieces(tokens);
  const known = words.flatMap(({ word, vector }) => {
    const role = roles.get(word);
    return role === undefined ? [] : [{ role, vector }];
  });
  return { roles: known.map(({ role }) => role), vectors: known.map(({ vector }) => vector) };
}

function joinPieces({ pieces, values }: TokenVectors): { word: string; vector: Float32Array }[] {
  const dimensions = pieces.length === 0 ? 0 : values.length / pieces.length;
  const words: { word: string; vector: Float32Array }[] = [];
  for (const [place, piece] of pieces.entries()) {
    const isPart = piece.startsWith('##') && words.length > 0;
    if (!isPart) words.push({ word: '', vector: new Float32Array(dimensions) });
    const last = words.at(-1) as { word: string; vector: Float32Array };
    last.word += isPart ? piece.slice(2) : piece;
    for (let at = 0; at < dimensions; at++)
      last.vector[at] = (last.vector[at] ?? 0) + (values[place * dimensions + at] ?? 0);
  }
  for (const { vector } of words) scaleToLength(vector);
  return words;
}

function scaleToLength(vector: Float32Array): void {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (length > 0) for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
}

/** How the words of two sentences match by meaning. All cosines; 0 where a sentence has no such word. */
export interface Alignment {
  /** Means over the words of the known and of the said sentence: how near the nearest word of the other is. */
  readonly known: number;
  readonly said: number;
  /** The same without names and values. */
  readonly knownPlain: number;
  readonly saidPlain: number;
  /** Of both sentences without names and values. */
  readonly rest: number;
  /** The nearest two nouns, the second nearest, and the nearest two verbs. */
  readonly noun: number;
  readonly secondNoun: number;
  readonly verb: number;
  /** Means over the nouns of each: how near the nearest noun of the other is. */
  readonly knownNouns: number;
  readonly saidNouns: number;
  /** How near the first noun of each is to a word of the other, and both to each other. */
  readonly knownFirst: number;
  readonly saidFirst: number;
  readonly firsts: number;
  readonly names: number;
  /** How near a value of the newer sentence is to one of the older that is another. */
  readonly otherValue: number;
  /** Shares of the words of each that have nothing near in the other. */
  readonly knownAlone: number;
  readonly saidAlone: number;
}

/** A word without one as near as this in the other sentence has no counterpart there. */
const leastNear = 0.45;

export function alignWords(known: WordVectors, said: WordVectors): Alignment {
  const cosines = known.vectors.map((one) => said.vectors.map((other) => dot(one, other)));
  const choose = ({ roles }: WordVectors, isMeant: (role: Role) => boolean): number[] =>
    roles.flatMap((role, place) => (isMeant(role) ? [place] : []));
  const bestOfKnown = (rows: readonly number[], columns: readonly number[]): number[] =>
    columns.length === 0 ? [] : rows.map((row) => Math.max(...columns.map((column) => cosines[row]?.[column] ?? 0)));
  const bestOfSaid = (columns: readonly number[], rows: readonly number[]): number[] =>
    rows.length === 0 ? [] : columns.map((column) => Math.max(...rows.map((row) => cosines[row]?.[column] ?? 0)));
  const of = (isMeant: (role: Role) => boolean): [number[], number[]] => [
    choose(known, isMeant),
    choose(said, isMeant),
  ];
  const all = of(() => true);
  const plain = of(isPlain);
  const nouns = of(({ kind }) => kind === 'noun');
  const verbs = of(({ kind }) => kind === 'verb');
  const firsts = of(({ kind, isFirst }) => kind === 'noun' && isFirst);
  const names = of(({ kind }) => kind === 'name');
  const values = of(({ kind }) => kind === 'value');
  const [nearest, second] = bestOfKnown(...nouns).toSorted((a, b) => b - a);
  const isKnownValue = (word: string): boolean => values[0].some((row) => known.roles[row]?.word === word);
  const otherValues = values[1].filter((column) => !isKnownValue(said.roles[column]?.word ?? ''));
  const [ofKnown, ofSaid] = [bestOfKnown(...all), bestOfSaid(all[1], all[0])];
  return {
    known: mean(ofKnown),
    said: mean(ofSaid),
    knownPlain: mean(bestOfKnown(plain[0], all[1])),
    saidPlain: mean(bestOfSaid(plain[1], all[0])),
    rest: compareMeans(
      plain[0].map((place) => known.vectors[place] as Float32Array),
      plain[1].map((place) => said.vectors[place] as Float32Array),
    ),
    noun: nearest ?? 0,
    secondNoun: second ?? 0,
    verb: Math.max(0, ...bestOfKnown(...verbs)),
    knownNouns: mean(bestOfKnown(...nouns)),
    saidNouns: mean(bestOfSaid(nouns[1], nouns[0])),
    knownFirst: bestOfKnown(firsts[0].slice(0, 1), all[1])[0] ?? 0,
    saidFirst: bestOfSaid(firsts[1].slice(0, 1), all[0])[0] ?? 0,
    firsts: Math.max(0, ...bestOfKnown(...firsts)),
    names: mean(bestOfKnown(names[0], all[1])),
    otherValue: Math.max(0, ...bestOfSaid(otherValues, values[0])),
    knownAlone: mean(ofKnown.map((best) => (best < leastNear ? 1 : 0))),
    saidAlone: mean(ofSaid.map((best) => (best < leastNear ? 1 : 0))),
  };
}

function isPlain({ kind }: Role): boolean {
  return kind !== 'name' && kind !== 'value';
}

function compareMeans(one: readonly Float32Array[], other: readonly Float32Array[]): number {
  const sums = [one, other].map((vectors) => {
    const sum = new Float32Array(vectors[0]?.length ?? 0);
    for (const vector of vectors) for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (vector[at] ?? 0);
    scaleToLength(sum);
    return sum;
  });
  return dot(sums[0] as Float32Array, sums[1] as Float32Array);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < Math.min(one.length, other.length); at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
