import type { MemoryType } from '../db/sql/memory-snapshot.ts';
import { isNarrow, rowConditions, type RowFilter } from '../db/sql/search-filter.ts';
import {
  selectDocumentCounts,
  selectSearchPlan,
  type SearchPlanRow,
  type StoredVersion,
} from '../db/sql/search-plan.ts';
import type { MemoryContext } from '../memory/context.ts';
import { isSameModel } from '../memory/embedding-versions.ts';
import { createStatistics, findStatistics, keepStatistics, type CorpusStatistics } from './corpus-statistics.ts';
import { corpusOf } from './filter.ts';
import type { SearchMode } from './defaults.ts';
import type { Routing } from './intent.ts';
import type { QueryText } from './query-text.ts';

export interface PreparedSearch {
  query: QueryText;
  filter: RowFilter;
  mode: SearchMode;
  limit: number;
  /** Candidates that each channel brings. */
  most: number;
  routing: Routing;
}

/** `model_changed`: the vectors that are stored were made by another model than the one that is configured. */
export type SemanticChannel = 'used' | 'not_asked' | 'no_vectors' | 'model_changed';

export interface SearchPlan {
  lexemes: string[];
  phrases: string[];
  exclusions: string[];
  statistics: CorpusStatistics;
  /** Where the vectors are that may be compared with the query; null when there are none. */
  version: StoredVersion | null;
  semanticChannel: SemanticChannel;
  hasIterativeScan: boolean;
  /** Types whose rows are few enough to look at each. */
  exact: ReadonlySet<MemoryType>;
}

/** More words than this are not told apart by a search; a prompt of pages has them. */
const mostLexemes = 128;

export async function planSearch(context: MemoryContext, { query, filter, mode }: PreparedSearch): Promise<SearchPlan> {
  const corpus = corpusOf(filter);
  // What is kept is about the present.
  const known = filter.isPast ? null : findStatistics(context.db, corpus);
  const { exactScanRows, language } = context.config.memory.retrieval;
  const row = await readPlan(context, {
    filter,
    corpus,
    language,
    words: mode === 'semantic' ? '' : query.words,
    phrases: query.phrases,
    exclusions: query.exclusions,
    mostLexemes,
    count: known === null,
    countFiltered: isNarrow(filter) && !filter.isPast ? exactScanRows : null,
  });
  const statistics = known ?? createStatistics(row.statistics ?? {}, corpus);
  await completeCounts(context, corpus, row, statistics);
  if (known === null && !filter.isPast) keepStatistics(context.db, corpus, statistics);
  return {
    lexemes: row.lexemes.map(({ lexeme }) => lexeme),
    phrases: row.phrases,
    exclusions: row.exclusions,
    statistics,
    ...chooseVersion(context, row.version),
    hasIterativeScan: isAtLeast(row.vector_extension, 0, 8),
    exact: chooseExact(filter, row, statistics, exactScanRows),
  };
}

async function readPlan(
  { db, principal }: MemoryContext,
  query: Parameters<typeof selectSearchPlan>[0],
): Promise<SearchPlanRow> {
  const [row] = await db.tenant(principal.tenantId).$queryRaw<{ plan: string }[]>(selectSearchPlan(query));
  if (row === undefined) throw new TypeError('a SELECT without FROM gave no row');
  return JSON.parse(row.plan) as SearchPlanRow;
}

/** Statistics that are kept have not met every word yet. */
async function completeCounts(
  { db, principal }: MemoryContext,
  corpus: RowFilter,
  row: SearchPlanRow,
  { documentsWith }: CorpusStatistics,
): Promise<void> {
  for (const { lexeme, documents } of row.lexemes) if (documents !== null) documentsWith.set(lexeme, documents);
  const unmet = row.lexemes.map(({ lexeme }) => lexeme).filter((lexeme) => !documentsWith.has(lexeme));
  if (unmet.length === 0) return;
  const counts = await db
    .tenant(principal.tenantId)
    .$queryRaw<{ lexeme: string; documents: number }[]>(selectDocumentCounts(corpus, unmet));
  for (const { lexeme, documents } of counts) documentsWith.set(lexeme, documents);
}

/** Vectors of two models are never compared, even if that leaves the words alone to search by. */
function chooseVersion(
  { embedder }: MemoryContext,
  stored: StoredVersion | null,
): Pick<SearchPlan, 'version' | 'semanticChannel'> {
  if (stored === null) return { version: null, semanticChannel: 'no_vectors' };
  return isSameModel(stored, embedder.model)
    ? { version: stored, semanticChannel: 'used' }
    : { version: null, semanticChannel: 'model_changed' };
}

function chooseExact(
  filter: RowFilter,
  { filtered }: SearchPlanRow,
  { byType }: CorpusStatistics,
  exactScanRows: number,
): ReadonlySet<MemoryType> {
  const rows = (type: MemoryType): number => Math.min(byType[type]?.documents ?? 0, filtered?.[type] ?? Infinity);
  // The past has no index.
  if (filter.isPast) return new Set(filter.types);
  return new Set(filter.types.filter((type) => rowConditions(type, filter) === null || rows(type) <= exactScanRows));
}

/** Iterative index scans came with pgvector 0.8. */
function isAtLeast(version: string, major: number, minor: number): boolean {
  const [givenMajor = 0, givenMinor = 0] = version.split('.').map(Number);
  return givenMajor > major || (givenMajor === major && givenMinor >= minor);
}
