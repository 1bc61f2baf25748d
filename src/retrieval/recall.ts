import type { Config } from '../config/schema.ts';
import type { RowFilter } from '../db/sql/search-filter.ts';
import type { MemoryContext } from '../memory/context.ts';
import { invalidInput } from '../errors.ts';
import type { MemoryReference } from '../memory/links.ts';
import { asMemory, referenceKey, type Memory } from '../memory/memories.ts';
import type { SearchMode } from './defaults.ts';
import { diversify, type Variety } from './diversify.ts';
import type { SearchFilter } from './filter.ts';
import { byScore, type Match } from './fuse.ts';
import type { PreparedSearch } from './plan.ts';
import { scorePartsOf, weightedScore, type CompositeParts } from './score.ts';
import {
  findMatches,
  loadFound,
  prepareSearch,
  type Considered,
  type SearchOutcome,
  type SearchResult,
} from './search.ts';
import { Stopwatch } from './stopwatch.ts';

export interface RecallInput extends Omit<SearchFilter, 'types'> {
  topic: string;
  mode?: SearchMode | null | undefined;
  limit?: number | null | undefined;
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
  return runRecall(context, prepareRecall(context, input));
}

const batchLimit = 100;

export async function recallMemoriesBatch(
  context: MemoryContext,
  inputs: readonly RecallInput[],
): Promise<RecallOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('recalls', `at most ${batchLimit}`, inputs.length);
  const recalls = inputs.map((input) => prepareRecall(context, input));
  return Promise.all(recalls.map((recall) => runRecall(context, recall)));
}

/** A topic is what someone talks about and not a search expression: its quotation marks and hyphens ask for nothing. */
export function prepareRecall(context: MemoryContext, { topic, ...input }: RecallInput): PreparedSearch {
  const types = input.types ?? ['fact', 'rule'];
  return prepareSearch(context, { ...input, types, query: topic }, { field: 'topic', isExpression: false });
}

type DroppedBy = 'relevance_floor' | 'min_similarity' | 'duplicate' | 'cluster' | 'limit';

export interface Scored extends Match {
  composite: CompositeParts;
  droppedBy: DroppedBy | null;
}

async function runRecall(context: MemoryContext, search: PreparedSearch): Promise<RecallOutcome> {
  const stopwatch = new Stopwatch();
  const { matches, semanticChannel } = await findMatches(context, search, stopwatch);
  const scored = await stopwatch.time('score', async () => scoreMatches(context, search, matches));
  const results = await stopwatch.time('load', () => chooseResults(context, search, scored));
  const returned = new Set(results.map(({ memory }) => memory.row.id));
  for (const one of scored) if (!returned.has(one.candidate.id)) one.droppedBy ??= 'limit';
  return {
    query: search.query.text,
    mode: search.mode,
    limit: search.limit,
    intent: search.routing.intent,
    semanticChannel,
    results,
    candidates: scored.length,
    considered: scored.map(({ candidate: { type, id }, score, relevance, parts, composite, droppedBy }) => {
      return { type, id, score, relevance, parts, composite, droppedBy };
    }),
    milliseconds: stopwatch.milliseconds,
  };
}

/** Best first; what is below a floor says so. */
export function scoreMatches(context: MemoryContext, { filter }: PreparedSearch, matches: readonly Match[]): Scored[] {
  const { retrieval } = context.config.memory;
  return matches
    .map((match): Scored => {
      const composite = scorePartsOf(match.candidate, match.relevance, filter.at, retrieval);
      return { ...match, composite, score: weightedScore(composite, retrieval), droppedBy: floorOf(match, retrieval) };
    })
    .toSorted(byScore);
}

interface Contender extends Scored {
  memory: Memory;
}

/** Looks at more than the limit, as some will be folded or have to wait, and at still more if that is too few. */
async function chooseResults(
  context: MemoryContext,
  { limit, filter }: PreparedSearch,
  scored: readonly Scored[],
): Promise<RecallResult[]> {
  const { clusterLimit, duplicateSimilarity } = context.config.memory.retrieval;
  const above = scored.filter(({ droppedBy }) => droppedBy === null);
  for (let count = 2 * limit + 20; ; count *= 4) {
    const contenders = await loadContenders(context, filter, above.slice(0, count));
    const variety = diversify(contenders, { limit, clusterLimit, duplicateSimilarity });
    if (variety.chosen.length >= limit || count >= above.length) return toResults(variety);
  }
}

async function loadContenders(
  context: MemoryContext,
  filter: RowFilter,
  scored: readonly Scored[],
): Promise<Contender[]> {
  const memories = await loadFound(
    context,
    filter,
    scored.map(({ candidate }) => candidate),
  );
  return scored.flatMap((one) => {
    const row = memories.get(referenceKey(one.candidate));
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
