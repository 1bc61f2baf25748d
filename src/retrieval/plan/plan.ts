import type { MemoryType } from '../../db/tables.ts';
import { isNarrow, rowConditions, type RowFilter } from '../../db/sql/search-filter.ts';
import {
  mostCountedMatches,
  mostSmallRows,
  sampleRows,
  selectDocumentCounts,
  selectFrequentCounts,
  selectSearchPlan,
  type LexemeCounts,
  type PastText,
  type SearchPlanRow,
  type StoredVersion,
} from '../../db/sql/search-plan.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import {
  createStatistics,
  findStatistics,
  isLarge,
  keepStatistics,
  type CorpusStatistics,
} from './corpus-statistics.ts';
import { corpusOf } from '../filter.ts';
import type { SearchMode } from '../query/defaults.ts';
import type { Routing } from '../query/intent.ts';
import type { QueryText } from '../query/query-text.ts';

export interface PreparedSearch {
  query: QueryText;
  filter: RowFilter;
  mode: SearchMode;
  limit: number;
  /** The session that asks. */
  sessionId: string | null;
  /** Candidates that each channel brings. */
  most: number;
  routing: Routing;
  /** Whether its candidates come with what is shown of them. */
  toShow: boolean;
}

/** `model_changed`: the vectors that are stored were made by another model, which is not on this machine. */
export type SemanticChannel = 'used' | 'not_asked' | 'no_vectors' | 'model_changed';

export interface SearchPlan {
  lexemes: string[];
  phrases: string[];
  exclusions: string[];
  statistics: CorpusStatistics;
  /** The active one: where the vectors are, and of which model; null when there are none. */
  version: StoredVersion | null;
  /** Of a search of the past: what is to be embedded for it. */
  pastTexts: readonly PastText[];
  hasIterativeScan: boolean;
  /** Types whose rows are few enough to look at each. */
  exact: ReadonlySet<MemoryType>;
}

/** More words than this are not told apart by a search; a prompt of pages has them. */
const mostLexemes = 128;
/** Texts of the past that are embedded for one search, which takes the model some milliseconds each. */
const mostPastTexts = 64;

/** All of them in one round trip, or in up to three where a word is new; the answers of `also`, which go with them, come back. */
export async function planSearches(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  also: readonly Prisma.Sql[] = [],
): Promise<{ plans: SearchPlan[]; answers: (string | null)[] }> {
  const drafts = searches.map((search) => draftPlan(context, search));
  const statements = [...drafts.map(({ statement }) => statement), ...also];
  // They are found by the same keys whoever asks: to plan one anew takes longer than to run it.
  const settings = { plan_cache_mode: 'force_generic_plan' };
  const answers = await context.db.roundTrip(statements, settings);
  const read = drafts.map((draft, place) => readPlan(draft, answers[place]));
  await ask(context, read.flatMap(unmetWords));
  await ask(context, read.flatMap(uncountedWords));
  return { plans: read.map((one) => asPlan(context, one)), answers: answers.slice(drafts.length) };
}

interface PlanDraft {
  search: PreparedSearch;
  corpus: RowFilter;
  known: CorpusStatistics | null;
  statement: Prisma.Sql;
}

function draftPlan(context: MemoryContext, search: PreparedSearch): PlanDraft {
  const { query, filter, mode } = search;
  const corpus = corpusOf(filter);
  // What is kept is about the present.
  const known = filter.isPast ? null : findStatistics(context.db.database, corpus);
  const { exactScanRows, language } = context.config.memory.retrieval;
  const statement = selectSearchPlan({
    filter,
    corpus,
    language,
    words: mode === 'semantic' ? '' : query.words,
    phrases: query.phrases,
    exclusions: query.exclusions,
    mostLexemes,
    count: known === null,
    countFiltered: isNarrow(filter) && !filter.isPast,
    exactScanRows,
    most: search.most,
    mostPastTexts: filter.isPast && mode !== 'keyword' ? mostPastTexts : null,
  });
  return { search, corpus, known, statement };
}

interface PlanRead extends PlanDraft {
  row: SearchPlanRow;
  statistics: CorpusStatistics;
  /** Words that more memories have than are counted at first, or that are new among very many memories. */
  uncounted: string[];
}

function readPlan(draft: PlanDraft, answer: string | null | undefined): PlanRead {
  if (answer == null) throw new TypeError('a SELECT without FROM gave no row');
  const row = JSON.parse(answer) as SearchPlanRow;
  const statistics = draft.known ?? createStatistics(row.statistics ?? {}, draft.corpus);
  const plan: PlanRead = { ...draft, row, statistics, uncounted: [] };
  keepCounts(plan, row.lexemes);
  return plan;
}

/** What is exact is kept at once. What many memories have is counted in another way. */
function keepCounts(plan: PlanRead, counts: readonly LexemeCounts[]): void {
  const { corpus, statistics, uncounted } = plan;
  const small = smallTypes(plan);
  const isCounted = (count: number, place: number): boolean =>
    count < mostCountedMatches || small.has(corpus.types[place] as MemoryType);
  for (const { lexeme, documents } of counts) {
    if (documents === null) continue;
    const isExact = corpus.isPast || documents.every(isCounted);
    if (isExact) statistics.documentsWith.set(lexeme, sum(documents));
    else if (!statistics.documentsWith.has(lexeme)) uncounted.push(lexeme);
  }
}

/** The types of so few rows that words are counted in each of them. */
function smallTypes({ corpus, row, statistics: { byType } }: PlanRead): ReadonlySet<MemoryType> {
  return new Set(corpus.types.filter((type) => (byType[type]?.documents ?? 0) <= mostSmallRows(row.exact_rows[type])));
}

interface CountQuery {
  statement: Prisma.Sql;
  keep: (counts: readonly LexemeCounts[]) => void;
}

/** Statistics that are kept have not met every word yet. */
function unmetWords(plan: PlanRead): CountQuery[] {
  const met = (lexeme: string): boolean => plan.statistics.documentsWith.has(lexeme) || plan.uncounted.includes(lexeme);
  const unmet = plan.row.lexemes.map(({ lexeme }) => lexeme).filter((lexeme) => !met(lexeme));
  if (unmet.length === 0) return [];
  if (isLarge(plan.statistics)) {
    plan.uncounted.push(...unmet);
    return [];
  }
  const statement = selectDocumentCounts(plan.corpus, unmet, smallTypes(plan));
  return [{ statement, keep: (counts) => keepCounts(plan, counts) }];
}

function uncountedWords(plan: PlanRead): CountQuery[] {
  const { corpus, uncounted } = plan;
  const { byType, documentsWith, sampled } = plan.statistics;
  if (uncounted.length === 0) return [];
  const sizes = new Map(
    corpus.types.flatMap((type): [MemoryType, number][] => {
      const known = byType[type];
      return known?.isEstimated === true ? [[type, known.documents]] : [];
    }),
  );
  const keep = (counts: readonly LexemeCounts[]): void => {
    for (const { lexeme, documents, sampled: marks = [] } of counts) {
      documentsWith.set(lexeme, sum(documents ?? []));
      sampled.set(
        lexeme,
        [...sizes].map(([type, size], place) => ({
          type,
          marks: Uint16Array.from(marks[place] ?? []).toSorted(),
          weight: size / sampleRows,
        })),
      );
    }
  };
  return [{ statement: selectFrequentCounts(corpus, uncounted, sizes, smallTypes(plan)), keep }];
}

async function ask({ db }: MemoryContext, queries: readonly CountQuery[]): Promise<void> {
  if (queries.length === 0) return;
  const statements = queries.map(({ statement }) => statement);
  const answers = await db.roundTrip(statements);
  for (const [place, { keep }] of queries.entries()) keep(JSON.parse(answers[place] ?? '[]') as LexemeCounts[]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function asPlan(context: MemoryContext, { search: { filter }, corpus, known, row, statistics }: PlanRead): SearchPlan {
  if (known === null && !filter.isPast) keepStatistics(context.db.database, corpus, statistics);
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
  filter: RowFilter,
  { filtered, exact_rows }: SearchPlanRow,
  { byType }: CorpusStatistics,
): ReadonlySet<MemoryType> {
  const rows = (type: MemoryType): number => Math.min(byType[type]?.documents ?? 0, filtered?.[type] ?? Infinity);
  // The past has no index, and the functions that read the word index leave out what was forgotten.
  if (filter.isPast || filter.validity.includes('retracted')) return new Set(filter.types);
  return new Set(filter.types.filter((type) => rowConditions(type, filter) === null || rows(type) <= exact_rows[type]));
}

/** Iterative index scans came with pgvector 0.8. */
function isAtLeast(version: string, major: number, minor: number): boolean {
  const [givenMajor = 0, givenMinor = 0] = version.split('.').map(Number);
  return givenMajor > major || (givenMajor === major && givenMinor >= minor);
}
