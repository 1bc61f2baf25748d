import type { Config } from '../config/schema.ts';
import { atPlace } from '../memory/at-place.ts';
import type { MemoryContext } from '../memory/context.ts';
import { invalidInput } from '../shared/errors.ts';
import type { MemoryReference } from '../memory/links/links.ts';
import { asMemory, referenceKey, type Memory, type MemoryRow } from '../memory/memories.ts';
import type { SearchMode } from './query/defaults.ts';
import { diversify, type Variety } from './pipeline/diversify.ts';
import type { SearchFilter } from './filter.ts';
import { findMatches, type FoundMatches } from './pipeline/find-matches.ts';
import { byScore, type Match } from './pipeline/fuse.ts';
import { loadFound, type Found } from './pipeline/load.ts';
import type { PreparedSearch } from './plan/plan.ts';
import { scorePartsOf, weightedScore, type CompositeParts } from './pipeline/score.ts';
import { prepareSearch, type Considered, type SearchOutcome, type SearchResult } from './search.ts';
import { Stopwatch, type Milliseconds } from './pipeline/stopwatch.ts';

export interface RecallInput extends Omit<SearchFilter, 'types'> {
  topic: string;
  mode?: SearchMode | null | undefined;
  limit?: number | null | undefined;
  /** The session that asks, for its receipt and for promotion. */
  sessionId?: string | null | undefined;
  /** Facts and rules when left out. */
  types?: SearchFilter['types'];
}

export interface RecallResult extends SearchResult {
  /** What the score is made of. */
  composite: CompositeParts;
  /** Memories that say the same and are not returned on their own. */
  folded: MemoryReference[];
}

export interface ConsideredForRecall extends Considered {
  composite: CompositeParts;
}

export interface RecallOutcome extends SearchOutcome {
  results: RecallResult[];
  considered: ConsideredForRecall[];
}

/** What matters most of what is known about a topic: relevance, importance, recency and confidence together. */
export async function recallMemories(context: MemoryContext, input: RecallInput): Promise<RecallOutcome> {
  const [outcome] = await runRecalls(context, [prepareRecall(context, input)]);
  return outcome as RecallOutcome;
}

const batchLimit = 100;

export async function recallMemoriesBatch(
  context: MemoryContext,
  inputs: readonly RecallInput[],
): Promise<RecallOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('inputs', `at most ${batchLimit}`, inputs.length);
  return runRecalls(
    context,
    inputs.map((input, place) => atPlace('inputs', place, () => prepareRecall(context, input))),
  );
}

/** What a recall returns unless its caller names other types. */
export const recalledTypes = ['fact', 'rule'] as const;

/** A topic is what someone talks about and not a search expression: its quotation marks and hyphens ask for nothing. */
export function prepareRecall(context: MemoryContext, { topic, ...input }: RecallInput): PreparedSearch {
  const types = input.types ?? recalledTypes;
  return prepareSearch(context, { ...input, types, query: topic }, { field: 'topic', isExpression: false });
}

type DroppedBy = 'relevance_floor' | 'min_similarity' | 'duplicate' | 'cluster' | 'limit';

export interface Scored extends Match {
  composite: CompositeParts;
  droppedBy: DroppedBy | null;
}

async function runRecalls(context: MemoryContext, searches: readonly PreparedSearch[]): Promise<RecallOutcome[]> {
  const stopwatch = new Stopwatch();
  const { found } = await findMatches(context, searches, stopwatch);
  const recalls = await stopwatch.time('score', async () =>
    searches.map((search, place): Recall => {
      const { matches, semanticChannel } = found[place] as FoundMatches;
      return { search, semanticChannel, scored: scoreMatches(context, search, matches) };
    }),
  );
  const results = await stopwatch.time('load', () => chooseAll(context, recalls));
  return recalls.map((recall, place) => outcomeOf(recall, results[place] ?? [], stopwatch.milliseconds));
}

interface Recall {
  search: PreparedSearch;
  semanticChannel: FoundMatches['semanticChannel'];
  scored: Scored[];
}

function outcomeOf(
  { search, semanticChannel, scored }: Recall,
  results: RecallResult[],
  milliseconds: Milliseconds,
): RecallOutcome {
  const returned = new Set(results.map(({ memory }) => memory.row.id));
  for (const one of scored) if (!returned.has(one.candidate.id)) one.droppedBy ??= 'limit';
  return {
    query: search.query.text,
    mode: search.mode,
    limit: search.limit,
    sessionId: search.sessionId,
    intent: search.routing.intent,
    semanticChannel,
    results,
    candidates: scored.length,
    considered: scored.map(({ candidate: { type, id }, score, relevance, parts, composite, droppedBy }) => {
      return { type, id, score, relevance, parts, composite, droppedBy };
    }),
    milliseconds,
  };
}

/** Best first; what is below a floor says so. */
export function scoreMatches(context: MemoryContext, { filter }: PreparedSearch, matches: readonly Match[]): Scored[] {
  const { retrieval } = context.config.memory;
  return matches
    .map((match): Scored => {
      const { candidate, parts, relevance } = match;
      const composite = scorePartsOf(candidate, relevance, filter.at, retrieval);
      const score = weightedScore(composite, retrieval);
      return { candidate, parts, relevance, composite, score, droppedBy: floorOf(match, retrieval) };
    })
    .toSorted(byScore);
}

interface Contender extends Scored {
  memory: Memory;
}

/** One round trip for the first look of all of them. */
async function chooseAll(context: MemoryContext, recalls: readonly Recall[]): Promise<RecallResult[][]> {
  const looks = recalls.map(({ search, scored }) => {
    const above = scored.filter(({ droppedBy }) => droppedBy === null);
    return { search, above, count: 2 * search.limit + 20 };
  });
  const rows = await loadFound(
    context,
    looks.map(({ search, above, count }) => foundOf(search, above, count)),
  );
  return Promise.all(looks.map((look, place) => chooseResults(context, look, rows[place] ?? new Map())));
}

interface Look {
  search: PreparedSearch;
  above: readonly Scored[];
  count: number;
}

/** Looks at more than the limit, as some will be folded or have to wait, and at still more if that is too few. */
async function chooseResults(
  context: MemoryContext,
  { search, above, count }: Look,
  rows: ReadonlyMap<string, MemoryRow>,
): Promise<RecallResult[]> {
  const { clusterLimit, duplicateSimilarity } = context.config.memory.retrieval;
  const { limit } = search;
  const variety = diversify(contendersOf(above.slice(0, count), rows), { limit, clusterLimit, duplicateSimilarity });
  if (variety.chosen.length >= limit || count >= above.length) return toResults(variety);
  const [more = new Map<string, MemoryRow>()] = await loadFound(context, [foundOf(search, above, 4 * count)]);
  return chooseResults(context, { search, above, count: 4 * count }, more);
}

function foundOf({ filter }: PreparedSearch, above: readonly Scored[], count: number): Found {
  return { filter, references: above.slice(0, count).map(({ candidate }) => candidate) };
}

function contendersOf(scored: readonly Scored[], rows: ReadonlyMap<string, MemoryRow>): Contender[] {
  return scored.flatMap((one) => {
    const row = rows.get(referenceKey(one.candidate));
    return row === undefined ? [] : [Object.assign(one, { memory: asMemory(row) })];
  });
}

function toResults({ chosen, crowded }: Variety<Contender>): RecallResult[] {
  for (const one of crowded) one.droppedBy = 'cluster';
  for (const { folded } of chosen) for (const one of folded) one.droppedBy = 'duplicate';
  return chosen.map(({ contender: { memory, candidate, score, relevance, parts, composite }, folded }) => ({
    memory,
    score,
    relevance,
    parts,
    composite,
    isWarning: candidate.maturity === 'anti_pattern',
    folded: folded.map(({ candidate: { type, id } }) => ({ type, id })),
  }));
}

/**
 * The composite is a sum: without a floor, an important and fresh memory that has nothing to do with the topic outranks
 * one that has.
 */
function floorOf({ relevance, parts }: Match, retrieval: Config['memory']['retrieval']): DroppedBy | null {
  if (relevance < retrieval.relevanceFloor) return 'relevance_floor';
  const sharesWords = parts.keywordScore > 0 || parts.lentScore > 0;
  return sharesWords || (parts.similarity ?? 0) >= retrieval.minSimilarity ? null : 'min_similarity';
}
