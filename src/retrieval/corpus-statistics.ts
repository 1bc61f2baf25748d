import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import type { MemoryType } from '../db/sql/memory-snapshot.ts';
import type { RowFilter } from '../db/sql/search-filter.ts';
import type { TypeStatistics } from '../db/sql/search-plan.ts';

/** What BM25 has to know of all the memories that a caller may find. */
export interface CorpusStatistics {
  byType: Partial<Record<MemoryType, TypeStatistics>>;
  documentsWith: LRUCache<string, number>;
  takenAt: number;
}

/**
 * Counting over few memories is quick and done anew for each search. Over many it would take longer than the search, and
 * a few more or less change nothing: their statistics are kept for a while.
 */
const keepFromDocuments = 1000;
const keptForMs = 60_000;
const mostCorpora = 1000;
const mostLexemes = 20_000;

const kept = new WeakMap<Database, LRUCache<string, CorpusStatistics>>();

export function findStatistics(database: Database, corpus: RowFilter): CorpusStatistics | null {
  const found = kept.get(database)?.get(keyOf(corpus));
  const age = found === undefined ? Number.POSITIVE_INFINITY : Math.abs(corpus.at.getTime() - found.takenAt);
  return found !== undefined && age < keptForMs ? found : null;
}

export function keepStatistics(database: Database, corpus: RowFilter, statistics: CorpusStatistics): void {
  if (countDocuments(statistics) < keepFromDocuments) return;
  const corpora = kept.get(database) ?? new LRUCache<string, CorpusStatistics>({ max: mostCorpora });
  kept.set(database, corpora);
  corpora.set(keyOf(corpus), statistics);
}

export function createStatistics(byType: CorpusStatistics['byType'], { at }: RowFilter): CorpusStatistics {
  return { byType, documentsWith: new LRUCache({ max: mostLexemes }), takenAt: at.getTime() };
}

export function countDocuments({ byType }: CorpusStatistics): number {
  return Object.values(byType).reduce((total, { documents }) => total + documents, 0);
}

export function averageLength(statistics: CorpusStatistics): number {
  const lexemes = Object.values(statistics.byType).reduce((total, type) => total + type.lexemes, 0);
  return lexemes / Math.max(1, countDocuments(statistics));
}

function keyOf({ tenantId, types, visibleButler, visibleScopes }: RowFilter): string {
  return JSON.stringify([tenantId, types.toSorted(), visibleButler, visibleScopes]);
}
