import { LRUCache } from 'lru-cache';
import { sampleRows, type SampledWordCount } from '../../db/queries/search-word-counts.ts';
import type { MemoryType } from '../../db/tables.ts';
import type { MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { CountedType } from '../../db/queries/search-plan.ts';
import type { Caches, CorpusStatistics, SampledWord, TypeStatistics } from '../../memory/caches.ts';

/**
 * Counting over few memories is quick and done anew for each search. Over many it would take longer than the search, and
 * a few more or less change nothing: their statistics are kept for a while, the longer the more there are.
 */
const keepFromDocuments = 1000;
const leastKeptForMs = 5000;
const mostKeptForMs = 60 * 60_000;
const documentsPerKeptMinute = 10_000;
const mostLexemes = 20_000;
/** Marks of all sampled words together, at two bytes each. */
const mostMarks = 1_000_000;

export function findStatistics({ corpora }: Caches, corpus: MemoryFilter): CorpusStatistics | null {
  const found = corpora.get(keyOf(corpus));
  const age = found === undefined ? Number.POSITIVE_INFINITY : Math.abs(corpus.at.getTime() - found.takenAt);
  return found !== undefined && age < keptForMs(found) ? found : null;
}

function keptForMs(statistics: CorpusStatistics): number {
  const minutes = countDocuments(statistics) / documentsPerKeptMinute;
  return Math.min(mostKeptForMs, Math.max(leastKeptForMs, minutes * 60_000));
}

export function keepStatistics({ corpora }: Caches, corpus: MemoryFilter, statistics: CorpusStatistics): void {
  if (countDocuments(statistics) >= keepFromDocuments) corpora.set(keyOf(corpus), statistics);
}

export function createStatistics(
  counted: Partial<Record<MemoryType, CountedType>>,
  { at }: MemoryFilter,
): CorpusStatistics {
  const byType = Object.fromEntries(Object.entries(counted).map(([type, one]) => [type, scaled(one)]));
  // With `max` it would make room for all of them at once, for each search of few memories.
  const documentsWith = new LRUCache<string, number>({ maxSize: mostLexemes, sizeCalculation: () => 1 });
  const sampled = new LRUCache<string, SampledWord>({ maxSize: mostMarks, sizeCalculation: countMarks });
  return { byType, documentsWith, sampled, takenAt: at.getTime() };
}

/** Keeps how many memories have a word, and which rows of the samples of the large types have it. */
export function keepSample(
  { documentsWith, sampled }: CorpusStatistics,
  { lexeme, documents, marks }: SampledWordCount,
  large: ReadonlyMap<MemoryType, number>,
): void {
  documentsWith.set(
    lexeme,
    (documents ?? []).reduce((sum, count) => sum + count, 0),
  );
  const words = [...large].map(([type, size], place) => ({
    type,
    marks: Uint16Array.from(marks[place] ?? []).toSorted(),
    weight: size / sampleRows,
  }));
  sampled.set(lexeme, words);
}

/** And some for the word itself. */
function countMarks(word: SampledWord): number {
  return word.reduce((count, { marks }) => count + marks.length, 100);
}

/** The rows that were not looked at are taken to be like those that were. */
function scaled({ documents, lexemes, estimate }: CountedType): TypeStatistics {
  if (estimate === null || estimate <= documents) return { documents, lexemes, isEstimated: estimate !== null };
  return { documents: estimate, lexemes: (lexemes / documents) * estimate, isEstimated: true };
}

/** Whether there are so many of a type that they are not counted. */
export function isLarge({ byType }: CorpusStatistics): boolean {
  return Object.values(byType).some(({ isEstimated }) => isEstimated);
}

export function countDocuments({ byType }: CorpusStatistics): number {
  return Object.values(byType).reduce((total, { documents }) => total + documents, 0);
}

export function averageLength(statistics: CorpusStatistics): number {
  const lexemes = Object.values(statistics.byType).reduce((total, type) => total + type.lexemes, 0);
  return lexemes / Math.max(1, countDocuments(statistics));
}

function keyOf({ tenantId, types, visibleButler, visibleScopes }: MemoryFilter): string {
  return JSON.stringify([tenantId, types.toSorted(), visibleButler, visibleScopes]);
}
