import type { Candidate } from '../../db/queries/candidate.ts';
import { isNote, readsAsNote } from '../../memory/facts/note-key.ts';
import { findWords } from '../../shared/words.ts';
import { drop, type Ranked } from './ranked.ts';

/** Facts of one subject and predicate that an answer has while others wait. */
const clusterLimit = 3;
/** What the score of a memory beyond that share is multiplied by: others come first unless they are worth still less. */
const crowdedWeight = 0.5;
/** Share of common words from which two texts say the same. */
const duplicateSimilarity = 0.9;

/** What two memories are compared by. */
interface Comparable extends Pick<Candidate, 'type' | 'id' | 'maturity' | 'subjectKey' | 'predicateKey'> {
  row: { content: string; subject?: string | null; predicate?: string | null };
}

/**
 * Keeps the best `limit`. Drops what says the same as a better one. What is of a cluster that has its share counts half of
 * its score: others come first, but nothing that hardly matches takes the place of what does, and no answer is left short.
 */
export function diversify<M extends Comparable>(ranked: readonly Ranked<M>[], limit: number): Ranked<M>[] {
  const duplicates = findDuplicates(ranked);
  const distinct = ranked.filter((one) => !duplicates.has(one));
  const crowded = findCrowded(distinct);
  const worth = (one: Ranked<M>): number => one.score * (crowded.has(one) ? crowdedWeight : 1);
  const kept = new Set(distinct.toSorted((a, b) => worth(b) - worth(a)).slice(0, limit));
  return ranked.map((one) => {
    if (kept.has(one)) return one;
    return drop(one, duplicates.has(one) ? 'duplicate' : crowded.has(one) ? 'cluster' : 'limit');
  });
}

/** Returns what better ones of the same subject and predicate leave no share for. */
export function findCrowded<R extends { memory: Pick<Candidate, 'subjectKey' | 'predicateKey'> }>(
  ranked: readonly R[],
): ReadonlySet<R> {
  const sizes = new Map<string, number>();
  return new Set(
    ranked.filter(({ memory: { subjectKey, predicateKey } }) => {
      if (subjectKey === null) return false;
      const cluster = JSON.stringify([subjectKey, predicateKey]);
      const size = (sizes.get(cluster) ?? 0) + 1;
      sizes.set(cluster, size);
      return size > clusterLimit;
    }),
  );
}

/** Returns what says the same as a better one. Counts common words through an index of words, not by pairs of texts. */
export function findDuplicates<M extends Comparable>(ranked: readonly Ranked<M>[]): ReadonlySet<Ranked<M>> {
  const duplicates = new Set<Ranked<M>>();
  const kept: { memory: M; words: number }[] = [];
  const placesByWord = new Map<string, number[]>();
  const common = new Uint32Array(ranked.length);
  for (const one of ranked) {
    const words = readWords(one.memory);
    common.fill(0, 0, kept.length);
    for (const word of words)
      for (const place of placesByWord.get(word) ?? []) common[place] = (common[place] ?? 0) + 1;
    const isDuplicate = kept.some((other, place) => {
      const shared = common[place] ?? 0;
      return (
        shared / (words.size + other.words - shared) >= duplicateSimilarity && isSameKind(other.memory, one.memory)
      );
    });
    if (isDuplicate) duplicates.add(one);
    else {
      for (const word of words) {
        const places = placesByWord.get(word);
        if (places === undefined) placesByWord.set(word, [kept.length]);
        else places.push(kept.length);
      }
      kept.push({ memory: one.memory, words: words.size });
    }
  }
  return duplicates;
}

/** A rule and the warning against it use nearly the same words and mean the opposite. */
function isSameKind(a: Comparable, b: Comparable): boolean {
  return a.type === b.type && (a.maturity === 'anti_pattern') === (b.maturity === 'anti_pattern');
}

function readWords({ type, row }: Comparable): Set<string> {
  const text = type === 'fact' ? readFact(row) : row.content;
  const words = findWords(text);
  return new Set(words.length === 0 ? [text] : words);
}

/** The predicate of a note says nothing of it. */
function readFact({ subject, predicate, content }: Comparable['row']): string {
  const names = { subject: subject ?? '', predicate: predicate ?? '' };
  if (isNote(names)) return content;
  return readsAsNote(names) ? `${names.subject} ${content}` : `${names.subject} ${names.predicate} ${content}`;
}
