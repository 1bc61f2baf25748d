import {
  readSearchPlans,
  type PastText,
  type PlanQuery,
  type SearchPlanRow,
  type StoredVersion,
} from '../../db/queries/search-plan.ts';
import {
  countWords,
  mostCountedMatches,
  mostCountedRows,
  sampleWords,
  type WordCount,
} from '../../db/queries/search-word-counts.ts';
import type { MemoryType } from '../../db/tables.ts';
import { isNarrow, whereMemory, type MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { CorpusStatistics } from '../../memory/caches.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { widenFilter } from '../../memory/filter.ts';
import { createStatistics, findStatistics, isLarge, keepSample, keepStatistics } from './corpus-statistics.ts';
import type { PreparedSearch } from './prepared-search.ts';

/** The plan of a search, made before its candidates are read. */
export interface SearchPlan {
  lexemes: string[];
  phrases: string[];
  exclusions: string[];
  statistics: CorpusStatistics;
  /** The active embedding version; null without any. */
  version: StoredVersion | null;
  /** For a search of the past: what is to be embedded for it. */
  pastTexts: readonly PastText[];
  hasIterativeScan: boolean;
  /** Types whose rows are few enough to read each. */
  exact: ReadonlySet<MemoryType>;
}

/** Words that a search tells apart; a prompt of pages has more. */
const mostLexemes = 128;
/** Texts of the past that are embedded for one search; the model takes some milliseconds for each. */
const mostPastTexts = 64;

/**
 * Plans several searches in one round trip, or in up to three where they have words that were not met before. The
 * statements of `also` go with the first, and their answers come back.
 */
export async function planSearches(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  also: readonly Prisma.Sql[] = [],
): Promise<{ plans: SearchPlan[]; answers: (string | null)[] }> {
  const { db, caches } = context;
  // The past has a corpus of its own for every moment: its statistics are not kept.
  const known = searches.map(({ filter }) => (filter.isPast ? null : findStatistics(caches, widenFilter(filter))));
  const queries = searches.map((search, place) => describePlan(context, search, known[place] === null));
  const { plans: rows, answers } = await readSearchPlans(db, queries, also);
  const corpora = queries.map((query, place) => {
    return readCorpus(context, query, rows[place] as SearchPlanRow, known[place] ?? null);
  });
  await countNewWords(context, corpora);
  const plans = corpora.map(({ filter, row, statistics }) => asPlan(filter, row, statistics));
  return { plans, answers };
}

function describePlan(
  context: MemoryContext,
  { query, filter, mode, most }: PreparedSearch,
  count: boolean,
): PlanQuery {
  const { exactScanRows, language } = context.config.memory.retrieval;
  return {
    filter,
    corpus: widenFilter(filter),
    language,
    words: mode === 'semantic' ? '' : query.words,
    phrases: query.phrases,
    exclusions: query.exclusions,
    mostLexemes,
    count,
    countFiltered: isNarrow(filter) && !filter.isPast,
    exactScanRows,
    most,
    mostPastTexts: filter.isPast && mode !== 'keyword' ? mostPastTexts : null,
  };
}

interface Corpus {
  filter: MemoryFilter;
  corpus: MemoryFilter;
  row: SearchPlanRow;
  statistics: CorpusStatistics;
  /** Types of so few rows that words are counted in each of them. */
  small: ReadonlySet<MemoryType>;
}

/** Makes statistics from what the plan counted, unless they are known. */
function readCorpus(
  { caches }: MemoryContext,
  { filter, corpus }: PlanQuery,
  row: SearchPlanRow,
  known: CorpusStatistics | null,
): Corpus {
  const statistics = known ?? createStatistics(row.statistics ?? {}, corpus);
  if (known === null && !filter.isPast) keepStatistics(caches, corpus, statistics);
  const small = corpus.types.filter((type) => {
    const documents = statistics.byType[type]?.documents ?? 0;
    return documents <= Math.min(row.exact_rows[type], mostCountedRows - 1);
  });
  return { filter, corpus, row, statistics, small: new Set(small) };
}

/**
 * Completes the statistics with the words that they do not have yet. What few memories have is counted exactly; what many
 * have, or what is new in a large corpus, is estimated from a sample.
 */
async function countNewWords({ db }: MemoryContext, corpora: readonly Corpus[]): Promise<void> {
  for (const one of corpora) keepExactCounts(one, one.row.lexemes);
  const counts = await countWords(
    db,
    corpora.map((one) => ({ ...one, lexemes: isLarge(one.statistics) ? [] : listUncounted(one, isNotCountedYet) })),
  );
  for (const [place, one] of corpora.entries()) keepExactCounts(one, counts[place] ?? []);
  const large = corpora.map(({ corpus, statistics }) => listLargeTypes(corpus, statistics));
  const samples = await sampleWords(
    db,
    corpora.map((one, place) => ({ ...one, lexemes: listUncounted(one), large: large[place] ?? new Map() })),
  );
  for (const [place, { statistics }] of corpora.entries()) {
    for (const count of samples[place] ?? []) keepSample(statistics, count, large[place] ?? new Map());
  }
}

function isNotCountedYet({ documents }: WordCount): boolean {
  return documents === null;
}

function listUncounted({ row, statistics }: Corpus, isWanted: (count: WordCount) => boolean = () => true): string[] {
  const uncounted = row.lexemes.filter((count) => !statistics.documentsWith.has(count.lexeme) && isWanted(count));
  return uncounted.map(({ lexeme }) => lexeme);
}

/** Keeps counts that did not stop at their limit. */
function keepExactCounts({ corpus, small, statistics }: Corpus, counts: readonly WordCount[]): void {
  for (const { lexeme, documents } of counts) {
    const isExact = documents?.every(
      (count, place) => corpus.isPast || count < mostCountedMatches || small.has(corpus.types[place] as MemoryType),
    );
    if (documents !== null && isExact === true) statistics.documentsWith.set(lexeme, sum(documents));
  }
}

function listLargeTypes({ types }: MemoryFilter, { byType }: CorpusStatistics): ReadonlyMap<MemoryType, number> {
  return new Map(
    types.flatMap((type): [MemoryType, number][] => {
      const known = byType[type];
      return known?.isEstimated === true ? [[type, known.documents]] : [];
    }),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function asPlan(filter: MemoryFilter, row: SearchPlanRow, statistics: CorpusStatistics): SearchPlan {
  return {
    lexemes: row.lexemes.map(({ lexeme }) => lexeme),
    phrases: row.phrases,
    exclusions: row.exclusions,
    statistics,
    version: row.version,
    pastTexts: row.past_texts ?? [],
    hasIterativeScan: isAtLeast(row.vector_extension, 0, 8),
    exact: chooseExact(filter, row, statistics),
  };
}

function chooseExact(
  filter: MemoryFilter,
  { filtered, exact_rows }: SearchPlanRow,
  { byType }: CorpusStatistics,
): ReadonlySet<MemoryType> {
  const rows = (type: MemoryType): number => Math.min(byType[type]?.documents ?? 0, filtered?.[type] ?? Infinity);
  // The past has no index, and the functions that read the word index leave out what was forgotten.
  if (filter.isPast || filter.validity.includes('retracted')) return new Set(filter.types);
  return new Set(filter.types.filter((type) => whereMemory(type, filter) === null || rows(type) <= exact_rows[type]));
}

/** Iterative index scans came with pgvector 0.8. */
function isAtLeast(version: string, major: number, minor: number): boolean {
  const [givenMajor = 0, givenMinor = 0] = version.split('.').map(Number);
  return givenMajor > major || (givenMajor === major && givenMinor >= minor);
}
