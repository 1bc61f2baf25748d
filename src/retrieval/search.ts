import type { Transaction } from '../db/database.ts';
import { memoryTypes, type MemoryType } from '../db/sql/memory-snapshot.ts';
import { selectCandidates, setIndexScan, type CandidateQuery, type CandidateRow } from '../db/sql/search-candidates.ts';
import type { RowFilter } from '../db/sql/search-filter.ts';
import { invalidInput } from '../errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { readStates } from '../memory/history.ts';
import type { MemoryReference } from '../memory/links.ts';
import { asMemory, loadMemories, referenceKey, type Memory, type MemoryRow } from '../memory/memories.ts';
import { chooseWords, leavesMatchesOut, withEveryMatch } from './choose-words.ts';
import { completeSearch, type SearchMode } from './defaults.ts';
import { completeFilter, type SearchFilter } from './filter.ts';
import { fuse, type Match, type MatchParts } from './fuse.ts';
import { routeQuery, timeWords, type Intent } from './intent.ts';
import { planSearch, type PreparedSearch, type SearchPlan, type SemanticChannel } from './plan.ts';
import { readQuery, type QueryReading } from './query-text.ts';
import { routeMatches } from './route-matches.ts';
import { Stopwatch, type Milliseconds } from './stopwatch.ts';

export interface SearchInput extends SearchFilter {
  query: string;
  mode?: SearchMode | null | undefined;
  /** 1 to 1000. */
  limit?: number | null | undefined;
}

export interface SearchResult {
  memory: Memory;
  score: number;
  /** The score as a share of the best one: 0 to 1. */
  relevance: number;
  parts: MatchParts;
  /** An anti-pattern: what it says is what not to do. */
  isWarning: boolean;
}

/** One memory that was ranked, and where it ended. */
export interface Considered extends MemoryReference {
  score: number;
  relevance: number;
  parts: MatchParts;
  /** Null when it was returned. */
  droppedBy: string | null;
}

export interface SearchOutcome {
  /** The query as it was used: cleaned, and cut at the limit. */
  query: string;
  mode: SearchMode;
  limit: number;
  intent: Intent;
  semanticChannel: SemanticChannel;
  results: SearchResult[];
  /** How many memories were ranked. */
  candidates: number;
  /** Those, best first. */
  considered: Considered[];
  milliseconds: Milliseconds;
}

/** The memories that match best. Order: score, then the newer, then the lesser id. */
export async function searchMemories(context: MemoryContext, input: SearchInput): Promise<SearchOutcome> {
  return runSearch(context, prepareSearch(context, input));
}

const batchLimit = 100;

/** Several searches at once. All are checked before one is made, and their texts are embedded together. */
export async function searchMemoriesBatch(
  context: MemoryContext,
  inputs: readonly SearchInput[],
): Promise<SearchOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('searches', `at most ${batchLimit}`, inputs.length);
  const searches = inputs.map((input) => prepareSearch(context, input));
  return Promise.all(searches.map((search) => runSearch(context, search)));
}

/** Refuses what is not a search, before anything is computed. */
export function prepareSearch(
  context: MemoryContext,
  input: SearchInput,
  reading: QueryReading = { field: 'query', isExpression: true },
): PreparedSearch {
  const { retrieval } = context.config.memory;
  const { limit, mode } = completeSearch(input, retrieval);
  const query = readQuery(input.query, reading);
  const filter = completeFilter(context, input);
  return {
    query,
    filter,
    mode,
    limit,
    most: Math.max(retrieval.candidates, limit),
    routing: routeQuery(query.text, filter.at, retrieval.intentRouting),
  };
}

async function runSearch(context: MemoryContext, search: PreparedSearch): Promise<SearchOutcome> {
  const stopwatch = new Stopwatch();
  const found = await findMatches(context, search, stopwatch);
  const chosen = found.matches.slice(0, search.limit);
  const memories = await stopwatch.time('load', () =>
    loadFound(
      context,
      search.filter,
      chosen.map(({ candidate }) => candidate),
    ),
  );
  const results = chosen.flatMap(({ candidate, score, relevance, parts }): SearchResult[] => {
    const row = memories.get(referenceKey(candidate));
    const isWarning = candidate.maturity === 'anti_pattern';
    return row === undefined ? [] : [{ memory: asMemory(row), score, relevance, parts, isWarning }];
  });
  return {
    query: search.query.text,
    mode: search.mode,
    limit: search.limit,
    intent: search.routing.intent,
    semanticChannel: found.semanticChannel,
    results,
    candidates: found.matches.length,
    considered: found.matches.map((match, index) => consider(match, index < search.limit ? null : 'limit')),
    milliseconds: stopwatch.milliseconds,
  };
}

/** What is returned, in the state that was searched. */
export async function loadFound(
  context: MemoryContext,
  { isPast, at }: RowFilter,
  references: readonly MemoryReference[],
): Promise<Map<string, MemoryRow>> {
  if (!isPast) return loadMemories(context, references);
  const rows = new Map<string, MemoryRow>();
  for (const type of memoryTypes) {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id);
    const past = ids.length === 0 ? [] : (await readStates(context, { type, at, ids, limit: ids.length })).rows;
    for (const row of past) rows.set(referenceKey({ type, id: row.id }), row);
  }
  return rows;
}

export function consider({ candidate, score, relevance, parts }: Match, droppedBy: string | null): Considered {
  return { type: candidate.type, id: candidate.id, score, relevance, parts, droppedBy };
}

export interface FoundMatches {
  matches: Match[];
  semanticChannel: SemanticChannel;
}

/** Both channels, fused: what search and recall have in common. */
export async function findMatches(
  context: MemoryContext,
  search: PreparedSearch,
  stopwatch: Stopwatch,
): Promise<FoundMatches> {
  const { retrieval } = context.config.memory;
  const [plan, vector] = await Promise.all([
    stopwatch.time('plan', () => planSearch(context, search)),
    search.mode === 'keyword' ? null : stopwatch.time('embed', () => context.embedder.embedQuery(search.query.meaning)),
  ]);
  const semanticChannel = search.mode === 'keyword' ? 'not_asked' : plan.semanticChannel;
  const candidates = await stopwatch.time('candidates', () => findCandidates(context, search, plan, vector));
  const matches = await stopwatch.time('fuse', async () => {
    const fused = fuse(candidates, search.mode, retrieval);
    // The two plain modes answer with what their channel says and nothing else.
    return search.mode === 'hybrid' ? routeMatches(fused, search.routing) : fused;
  });
  return { matches, semanticChannel };
}

async function findCandidates(
  context: MemoryContext,
  search: PreparedSearch,
  plan: SearchPlan,
  vector: Float32Array | null,
): Promise<CandidateRow[]> {
  const { retrieval } = context.config.memory;
  const { most, mode, filter } = search;
  const query: CandidateQuery = {
    filter,
    most,
    semantic: vector === null || plan.version === null ? null : { vector, version: plan.version },
    keyword: mode === 'semantic' ? null : chooseWords(plan.lexemes, plan.statistics, retrieval, most),
    exact: plan.exact,
    required: plan.phrases,
    excluded: plan.exclusions,
    timeWords: search.routing.asksTime && retrieval.language === 'english' ? timeWords : null,
  };
  if (query.semantic === null && query.keyword === null) return [];
  return context.db.transaction(filter.tenantId, async (transaction) => {
    const usesIndexes = filter.types.some((type) => !plan.exact.has(type));
    if (usesIndexes) await transaction.$executeRaw(setIndexScan(most, plan.hasIterativeScan));
    const candidates = await readCandidates(transaction, query);
    const fuller = usesIndexes ? findFuller(query, candidates, search.limit) : null;
    return fuller === null ? candidates : readCandidates(transaction, fuller);
  });
}

async function readCandidates(transaction: Transaction, query: CandidateQuery): Promise<CandidateRow[]> {
  const statement = selectCandidates(query);
  if (statement === null) return [];
  const [row] = await transaction.$queryRaw<{ candidates: string }[]>(statement);
  return JSON.parse(row?.candidates ?? '[]') as CandidateRow[];
}

/**
 * An index may stop before it has found enough rows that pass the filter, and rare words alone may find too few. Then
 * the search is made once more without either shortcut, so that the limit is filled whenever there is enough to fill it.
 */
function findFuller(query: CandidateQuery, found: readonly CandidateRow[], limit: number): CandidateQuery | null {
  const { semantic, keyword, exact, filter, most } = query;
  const starved = filter.types.filter((type) => !exact.has(type) && countNearest(found, type) < most);
  const needsVectors = semantic !== null && starved.length > 0 && found.filter(({ nearest }) => nearest).length < limit;
  const matched = found.filter((candidate) => candidate.words.some((value) => value > 0)).length;
  const needsWords = keyword !== null && leavesMatchesOut(keyword) && matched < limit;
  if (!needsVectors && !needsWords) return null;
  return {
    ...query,
    exact: needsVectors ? new Set(filter.types) : exact,
    keyword: keyword !== null && needsWords ? withEveryMatch(keyword) : keyword,
  };
}

function countNearest(found: readonly CandidateRow[], type: MemoryType): number {
  return found.filter((candidate) => candidate.nearest && candidate.type === type).length;
}
