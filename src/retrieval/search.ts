import type { MemoryFilter } from '../db/sql/memory-filter.ts';
import { atPlace } from '../memory/at-place.ts';
import type { MemoryContext } from '../memory/context.ts';
import { requireForgottenReader } from '../memory/reach.ts';
import { checkOptionalUuid } from '../memory/values.ts';
import { invalidInput } from '../shared/errors.ts';
import { completeFilter, type FilterInput } from '../memory/filter.ts';
import { loadRows, type LoadedMemory } from './pipeline/load.ts';
import { rankMatches, type RankedMatches } from './pipeline/rank-matches.ts';
import { drop, type Ranked } from './pipeline/ranked.ts';
import { Stopwatch, type Milliseconds } from './pipeline/stopwatch.ts';
import type { PreparedSearch } from './plan/prepared-search.ts';
import { completeSearch, matchesToRank, type SearchMode } from './query/defaults.ts';
import { routeQuery, type Intent } from './query/intent.ts';
import { readQuery, type QueryReading } from './query/query-text.ts';
import type { SemanticChannel } from './query/query-vector.ts';

export interface SearchInput extends FilterInput {
  query: string;
  mode?: SearchMode | null | undefined;
  /** 1 to 1000. */
  limit?: number | null | undefined;
  /** The session of the caller: distinct sessions count towards promotion. */
  sessionId?: string | null | undefined;
}

export interface SearchOutcome {
  /** The query as it was used: cleaned, and cut at the limit. */
  query: string;
  mode: SearchMode;
  limit: number;
  sessionId: string | null;
  intent: Intent;
  semanticChannel: SemanticChannel;
  /** Best first. */
  results: Ranked<LoadedMemory>[];
  /** All that was ranked, best first: the results, and what a stage dropped. */
  considered: Ranked[];
  milliseconds: Milliseconds;
}

/** Finds the memories that match best. Order: score, then the newer, then the lesser id. */
export async function searchMemories(context: MemoryContext, input: SearchInput): Promise<SearchOutcome> {
  const [outcome] = await runSearches(context, [prepareSearch(context, input)]);
  return outcome as SearchOutcome;
}

const batchLimit = 100;

/** Runs several searches in the round trips of one. Checks all inputs before it runs any. */
export async function searchMemoriesBatch(
  context: MemoryContext,
  inputs: readonly SearchInput[],
): Promise<SearchOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('inputs', `at most ${batchLimit}`, inputs.length);
  return runSearches(
    context,
    inputs.map((input, place) => atPlace('inputs', place, () => prepareSearch(context, input))),
  );
}

/** Checks and completes the input of a search. */
export function prepareSearch(
  context: MemoryContext,
  input: SearchInput,
  reading: QueryReading = { field: 'query', isExpression: true },
): PreparedSearch {
  const { retrieval } = context.config.memory;
  const { limit, mode } = completeSearch(input, retrieval);
  const query = readQuery(input.query, reading);
  const filter = completeSearchFilter(context, input);
  return {
    query,
    filter,
    mode,
    limit,
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    most: matchesToRank(limit, retrieval),
    routing: routeQuery(query.text, filter.at, retrieval.intentRouting),
    toShow: false,
    question: null,
  };
}

/** The confidence that retrieval asks for holds unless the caller names validities. Only some may search the forgotten. */
export function completeSearchFilter(context: MemoryContext, input: FilterInput): MemoryFilter {
  const { retrievalConfidenceThreshold } = context.config.memory.facts;
  const minConfidence = input.validity == null ? retrievalConfidenceThreshold : 0;
  // The session of a search is the caller's: to filter by it would leave out every fact and rule.
  const filter = completeFilter(context, { ...input, sessionId: null }, { minConfidence });
  if (filter.validity.includes('retracted')) requireForgottenReader(context, filter.validity);
  return filter;
}

/** The stages of a search: rank, keep the best, load their rows. */
async function runSearches(context: MemoryContext, searches: readonly PreparedSearch[]): Promise<SearchOutcome[]> {
  const stopwatch = new Stopwatch();
  const { matches } = await rankMatches(context, searches, stopwatch);
  const best = matches.map(({ ranked }, place) => ranked.slice(0, searches[place]?.limit));
  const loaded = await stopwatch.time('load', () => loadRows(context, searches, best));
  return searches.map((search, place) => {
    const { ranked, semanticChannel } = matches[place] as RankedMatches;
    const considered = markResults(ranked, loaded[place] ?? [], search.limit);
    return describeOutcome(search, considered, semanticChannel, stopwatch.milliseconds);
  });
}

/** Joins the rows to what they were loaded for, and drops the rest. */
function markResults(ranked: readonly Ranked[], loaded: readonly Ranked<LoadedMemory>[], limit: number): Ranked[] {
  const byId = new Map(loaded.map((one) => [one.memory.id, one]));
  return ranked.map((one, place) => {
    if (place >= limit) return drop(one, 'limit');
    return byId.get(one.memory.id) ?? drop(one, 'not_found');
  });
}

export function describeOutcome(
  { query, mode, limit, sessionId, routing }: PreparedSearch,
  considered: Ranked[],
  semanticChannel: SemanticChannel,
  milliseconds: Milliseconds,
): SearchOutcome {
  return {
    query: query.text,
    mode,
    limit,
    sessionId,
    intent: routing.intent,
    semanticChannel,
    results: considered.filter(isResult),
    considered,
    milliseconds,
  };
}

/** Whatever was not dropped was loaded. */
function isResult(one: Ranked): one is Ranked<LoadedMemory> {
  return one.droppedBy === null;
}
