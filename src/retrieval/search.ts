import { invalidInput } from '../shared/errors.ts';
import { atPlace } from '../memory/at-place.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { MemoryReference } from '../memory/links/links.ts';
import { asMemory, referenceKey, type Memory, type MemoryRow } from '../memory/memories.ts';
import { checkOptionalUuid } from '../memory/values.ts';
import { completeSearch, matchesToRank, type SearchMode } from './query/defaults.ts';
import { completeFilter, type SearchFilter } from './filter.ts';
import { findMatches, type FoundMatches } from './pipeline/find-matches.ts';
import type { Match, MatchParts } from './pipeline/fuse.ts';
import { routeQuery, type Intent } from './query/intent.ts';
import { loadFound } from './pipeline/load.ts';
import type { PreparedSearch, SemanticChannel } from './plan/plan.ts';
import { readQuery, type QueryReading } from './query/query-text.ts';
import { Stopwatch, type Milliseconds } from './pipeline/stopwatch.ts';
import type { DropStage } from './pipeline/stages.ts';

export interface SearchInput extends SearchFilter {
  query: string;
  mode?: SearchMode | null | undefined;
  /** 1 to 1000. */
  limit?: number | null | undefined;
  /** The session that asks: distinct sessions count towards promotion. */
  sessionId?: string | null | undefined;
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
  droppedBy: DropStage | null;
}

export interface SearchOutcome {
  /** The query as it was used: cleaned, and cut at the limit. */
  query: string;
  mode: SearchMode;
  limit: number;
  sessionId: string | null;
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
  const [outcome] = await runSearches(context, [prepareSearch(context, input)]);
  return outcome as SearchOutcome;
}

const batchLimit = 100;

/** Several searches at once, in the round trips of one. All are checked before one is made. */
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
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    most: matchesToRank(limit, retrieval),
    routing: routeQuery(query.text, filter.at, retrieval.intentRouting),
    toShow: false,
  };
}

async function runSearches(context: MemoryContext, searches: readonly PreparedSearch[]): Promise<SearchOutcome[]> {
  const stopwatch = new Stopwatch();
  const { found } = await findMatches(context, searches, stopwatch);
  const memories = await stopwatch.time('load', () =>
    loadFound(
      context,
      searches.map(({ filter, limit }, place) => {
        const matches = found[place]?.matches.slice(0, limit) ?? [];
        return { filter, references: matches.map(({ candidate }) => candidate) };
      }),
    ),
  );
  return searches.map((search, place) =>
    outcomeOf(search, found[place] as FoundMatches, memories[place] ?? new Map(), stopwatch.milliseconds),
  );
}

function outcomeOf(
  search: PreparedSearch,
  { matches, semanticChannel }: FoundMatches,
  memories: ReadonlyMap<string, MemoryRow>,
  milliseconds: Milliseconds,
): SearchOutcome {
  const chosen = matches.slice(0, search.limit);
  const results = chosen.flatMap(({ candidate, score, relevance, parts }): SearchResult[] => {
    const row = memories.get(referenceKey(candidate));
    const isWarning = candidate.maturity === 'anti_pattern';
    return row === undefined ? [] : [{ memory: asMemory(row), score, relevance, parts, isWarning }];
  });
  return {
    query: search.query.text,
    mode: search.mode,
    limit: search.limit,
    sessionId: search.sessionId,
    intent: search.routing.intent,
    semanticChannel,
    results,
    candidates: matches.length,
    considered: matches.map((match, index) => consider(match, index < search.limit ? null : 'limit')),
    milliseconds,
  };
}

export function consider({ candidate, score, relevance, parts }: Match, droppedBy: DropStage | null): Considered {
  return { type: candidate.type, id: candidate.id, score, relevance, parts, droppedBy };
}
