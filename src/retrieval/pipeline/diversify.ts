import type { CandidateRow } from '../../db/sql/search-candidates.ts';
import type { Memory } from '../../memory/memories.ts';
import { wordsOf } from '../words-of.ts';

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

/** By how many words each has in common with those before it, which are counted by word and not by pair of texts. */
function foldDuplicates<T extends Contender>(
  contenders: readonly T[],
  similarity: number,
): { contender: T; folded: T[] }[] {
  const kept: { contender: T; folded: T[]; words: number }[] = [];
  const placesOf = new Map<string, number[]>();
  const common = new Uint32Array(contenders.length);
  for (const contender of contenders) {
    const words = wordsOfMemory(contender.memory);
    common.fill(0, 0, kept.length);
    for (const word of words) for (const place of placesOf.get(word) ?? none) common[place] = (common[place] ?? 0) + 1;
    const same = kept.find((other, place) => {
      const shared = common[place] ?? 0;
      return shared / (words.size + other.words - shared) >= similarity && isSameSort(other.contender, contender);
    });
    if (same !== undefined) same.folded.push(contender);
    else {
      for (const word of words) addPlace(placesOf, word, kept.length);
      kept.push({ contender, folded: [], words: words.size });
    }
  }
  return kept;
}

const none: readonly number[] = [];

function addPlace(placesOf: Map<string, number[]>, word: string, place: number): void {
  const places = placesOf.get(word);
  if (places === undefined) placesOf.set(word, [place]);
  else places.push(place);
}

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
