import type { CandidateRow } from '../db/sql/search-candidates.ts';
import type { Memory } from '../memory/memories.ts';
import { wordsOf } from './words-of.ts';

export interface Contender {
  candidate: CandidateRow;
  memory: Memory;
}

export interface Variety<T> {
  /** Best first, at most the limit. */
  chosen: { contender: T; folded: T[] }[];
  /** Those of clusters that have their share already, when there was no room for more of them. */
  crowded: T[];
  /** Those that the limit left out. */
  beyond: T[];
}

export interface VarietyLimits {
  limit: number;
  /** Memories of one subject and predicate, while others wait. */
  clusterLimit: number;
  /** Share of common words from which two texts say the same. */
  duplicateSimilarity: number;
}

/**
 * Takes contenders from the best on. One that says what a better one says is folded into it. One whose cluster has its
 * share waits; it still comes if there is room at the end, for a cap must not leave an answer short.
 */
export function diversify<T extends Contender>(contenders: readonly T[], limits: VarietyLimits): Variety<T> {
  const distinct = foldDuplicates(contenders, limits.duplicateSimilarity);
  const sizes = new Map<string, number>();
  const waiting = new Set<(typeof distinct)[number]>();
  for (const one of distinct) {
    const cluster = clusterOf(one.contender.candidate);
    const size = (sizes.get(cluster ?? '') ?? 0) + 1;
    if (cluster !== null) sizes.set(cluster, size);
    if (cluster !== null && size > limits.clusterLimit) waiting.add(one);
  }
  const first = distinct.filter((one) => !waiting.has(one)).slice(0, limits.limit);
  const taken = new Set([...first, ...[...waiting].slice(0, limits.limit - first.length)]);
  return {
    chosen: distinct.filter((one) => taken.has(one)),
    crowded: [...waiting].filter((one) => !taken.has(one)).map(({ contender }) => contender),
    beyond: distinct.filter((one) => !taken.has(one) && !waiting.has(one)).map(({ contender }) => contender),
  };
}

function clusterOf({ subject_key, predicate_key }: CandidateRow): string | null {
  return subject_key === null ? null : JSON.stringify([subject_key, predicate_key]);
}

function foldDuplicates<T extends Contender>(
  contenders: readonly T[],
  similarity: number,
): { contender: T; folded: T[] }[] {
  const kept: { contender: T; folded: T[]; words: Set<string> }[] = [];
  const placesOf = new Map<string, number[]>();
  for (const contender of contenders) {
    const words = wordsOfMemory(contender.memory);
    const place = placesToCompare(words, placesOf, similarity).find((candidate) => {
      const other = kept[candidate];
      return other && isSameSort(other.contender, contender) && overlap(other.words, words) >= similarity;
    });
    if (place !== undefined) kept[place]?.folded.push(contender);
    else {
      for (const word of words) addPlace(placesOf, word, kept.length);
      kept.push({ contender, folded: [], words });
    }
  }
  return kept;
}

function addPlace(placesOf: Map<string, number[]>, word: string, place: number): void {
  const places = placesOf.get(word);
  if (places === undefined) placesOf.set(word, [place]);
  else places.push(place);
}

/**
 * The better ones that could say the same, best first. To share so many words they can lack only a few of them, and so
 * have one of any few and one more, such as the rarest: hundreds of texts need not each be compared with each.
 */
function placesToCompare(
  words: ReadonlySet<string>,
  placesOf: ReadonlyMap<string, readonly number[]>,
  similarity: number,
): number[] {
  const canLack = Math.floor(words.size * (1 - similarity) + 1e-9);
  const byWord = Array.from(words, (word) => placesOf.get(word) ?? none).toSorted((a, b) => a.length - b.length);
  const places = byWord.slice(0, canLack + 1).flat();
  return places.length < 2 ? places : [...new Set(places)].toSorted((a, b) => a - b);
}

const none: readonly number[] = [];

/** A rule and the warning against it say nearly the same and mean the opposite. */
function isSameSort(a: Contender, b: Contender): boolean {
  const isWarning = ({ candidate }: Contender): boolean => candidate.maturity === 'anti_pattern';
  return a.memory.type === b.memory.type && isWarning(a) === isWarning(b);
}

function wordsOfMemory({ type, row }: Memory): Set<string> {
  const text = type === 'fact' ? `${row.subject} ${row.predicate} ${row.content}` : row.content;
  const words = wordsOf(text);
  return new Set(words.length === 0 ? [text] : words);
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  if (small.size === 0) return 1;
  let common = 0;
  for (const word of small) if (large.has(word)) common += 1;
  return common / (a.size + b.size - common);
}
