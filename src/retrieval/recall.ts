import { whereMemory } from '../db/sql/memory-filter.ts';
import { atPlace } from '../memory/at-place.ts';
import type { MemoryContext } from '../memory/context.ts';
import { freshStatuses } from '../memory/episodes/fresh.ts';
import { invalidInput } from '../shared/errors.ts';
import type { FilterInput } from '../memory/filter.ts';
import { diversify } from './pipeline/diversify.ts';
import { judge } from './pipeline/judge.ts';
import { leaveOutdated } from './pipeline/leave-outdated.ts';
import { loadRows, type LoadedMemory } from './pipeline/load.ts';
import { matchTokens } from './pipeline/match-tokens.ts';
import { preferNewer } from './pipeline/prefer-newer.ts';
import { rankMatches, type RankedMatches } from './pipeline/rank-matches.ts';
import { byScore, drop, isKept, type Ranked } from './pipeline/ranked.ts';
import { relevanceFloor, score } from './pipeline/score.ts';
import { Stopwatch } from './pipeline/stopwatch.ts';
import type { PreparedSearch } from './plan/prepared-search.ts';
import type { SearchMode } from './query/defaults.ts';
import { readQuestion } from './query/whom.ts';
import { describeOutcome, prepareSearch, type SearchOutcome } from './search.ts';

export interface RecallInput extends Omit<FilterInput, 'types'> {
  topic: string;
  mode?: SearchMode | null | undefined;
  limit?: number | null | undefined;
  /** The session of the caller, for its receipt and for promotion. */
  sessionId?: string | null | undefined;
  /** Facts and rules when left out, and at most three fresh episodes. */
  types?: FilterInput['types'];
  /** Relevance below which memories are left out, for callers whose topic is no question. */
  floor?: number;
}

/** Recalls what matters most about a topic: by relevance, importance, recency and confidence together. */
export async function recallMemories(context: MemoryContext, input: RecallInput): Promise<SearchOutcome> {
  const [outcome] = await runRecalls(context, [prepareBoth(context, input)]);
  return outcome as SearchOutcome;
}

const batchLimit = 100;

export async function recallMemoriesBatch(
  context: MemoryContext,
  inputs: readonly RecallInput[],
): Promise<SearchOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('inputs', `at most ${batchLimit}`, inputs.length);
  return runRecalls(
    context,
    inputs.map((input, place) => atPlace('inputs', place, () => prepareBoth(context, input))),
  );
}

/** What a recall returns unless its caller names other types. */
export const recalledTypes = ['fact', 'rule'] as const;

/** Fresh episodes that an answer has at most, unless its caller names types. */
export const mostFresh = 3;

/** The searches of a recall. */
export interface PreparedRecall {
  search: PreparedSearch;
  /** Of fresh episodes; null where the caller names types. */
  fresh: PreparedSearch | null;
}

function prepareBoth(context: MemoryContext, input: RecallInput): PreparedRecall {
  return { search: prepareRecall(context, input), fresh: prepareFresh(context, input) };
}

/**
 * Prepares the search of episodes that wait to be consolidated: what they say is in no fact so far. A search of its own, so
 * that the words of episodes do not weigh in the relevance of facts and rules.
 */
export function prepareFresh(context: MemoryContext, input: RecallInput): PreparedSearch | null {
  // What is fresh says nothing of another date.
  if (input.types != null || input.consolidationStatus != null || input.validAt != null) return null;
  const fresh = { ...input, types: ['episode' as const], consolidationStatus: freshStatuses, limit: mostFresh };
  const search = prepareRecall(context, fresh);
  return whereMemory('episode', search.filter) === null ? null : search;
}

/** A topic is what someone talks about and no search expression: its quotation marks and hyphens have no meaning. */
export function prepareRecall(
  context: MemoryContext,
  { topic, floor = relevanceFloor, ...input }: RecallInput,
): PreparedSearch {
  const types = input.types ?? recalledTypes;
  const search = prepareSearch(context, { ...input, types, query: topic }, { field: 'topic', isExpression: false });
  return { ...search, floor, question: readQuestion(search.query.meaning) };
}

/**
 * The stages of a recall: rank, compare word by word, judge, score, prefer the newer, diversify, leave out what is
 * outdated.
 */
async function runRecalls(context: MemoryContext, recalls: readonly PreparedRecall[]): Promise<SearchOutcome[]> {
  const stopwatch = new Stopwatch();
  const searches = recalls.flatMap(({ search, fresh }) => (fresh === null ? [search] : [search, fresh]));
  const ranked = await rankMatches(context, searches, stopwatch);
  const matches = await matchTokens(context, searches, ranked.matches, stopwatch);
  const scored = await stopwatch.time('score', async () =>
    recalls.flatMap((recall) => scoreRecall(context, recall, (search) => matches[searches.indexOf(search)])),
  );
  const considered = await stopwatch.time('load', () => chooseResults(context, searches, scored));
  return recalls.map(({ search, fresh }) => {
    const place = searches.indexOf(search);
    const { semanticChannel } = matches[place] as RankedMatches;
    const all = joinFresh(considered[place] ?? [], fresh === null ? [] : (considered[place + 1] ?? []), search.limit);
    return describeOutcome(search, all, semanticChannel, stopwatch.milliseconds);
  });
}

/** Puts fresh episodes last. Of all of them, the best stay within the limit. */
function joinFresh(considered: readonly Ranked[], fresh: readonly Ranked[], limit: number): Ranked[] {
  const all = [...considered, ...fresh];
  const beyond = new Set(all.filter(isKept).toSorted(byScore).slice(limit));
  return all.map((one) => (beyond.has(one) ? drop(one, 'limit') : one));
}

/** Scores what the searches of a recall found, one list for each. */
export function scoreRecall(
  context: MemoryContext,
  { search, fresh }: PreparedRecall,
  matchesOf: (search: PreparedSearch) => RankedMatches | undefined,
): Ranked[][] {
  const found = matchesOf(search) as RankedMatches;
  const scored = scoreMatches(context, search, found);
  if (fresh === null) return [scored];
  const { evidence, ...matches } = matchesOf(fresh) as RankedMatches;
  // A fresh episode is one of all memories that the question was compared with.
  const documents = found.evidence.documents + evidence.documents;
  return [scored, scoreMatches(context, fresh, { ...matches, evidence: { ...evidence, documents } })];
}

export function scoreMatches(
  { config }: MemoryContext,
  { filter, floor }: PreparedSearch,
  { ranked, evidence }: RankedMatches,
): Ranked[] {
  return score(judge(ranked, evidence), filter.at, config.memory.retrieval, floor);
}

/**
 * Loads and diversifies the best of each recall: more than the limit, since some are duplicates or of crowded clusters,
 * and four times as many where that leaves the limit unfilled.
 */
async function chooseResults(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  scored: readonly Ranked[][],
  factor = 1,
): Promise<Ranked[][]> {
  const counts = searches.map(({ limit }) => factor * (2 * limit + 20));
  const eligible = scored.map((all) => all.filter(isKept));
  const first = eligible.map((all, place) => all.slice(0, counts[place]));
  const matching = await loadRows(context, searches, first, { isMasked: false });
  const loaded = await preferNewer(context, searches, { scored, loaded: matching });
  const diverse = loaded.map((all, place) => [
    ...diversify(all.filter(isKept), searches[place]?.limit ?? 0),
    ...all.filter((one) => !isKept(one)),
  ]);
  const chosen = await leaveOutdated(context, searches, diverse);
  const isShort = chosen.map((all, place) => {
    const hasMore = (eligible[place]?.length ?? 0) > (counts[place] ?? 0);
    return hasMore && all.filter(isKept).length < (searches[place]?.limit ?? 0);
  });
  const again = searches.map((_search, place) => place).filter((place) => isShort[place]);
  const more =
    again.length === 0 ? [] : await chooseResults(context, pick(searches, again), pick(scored, again), 4 * factor);
  return scored.map((all, place) => more[again.indexOf(place)] ?? markChosen(all, chosen[place] ?? []));
}

function pick<T>(list: readonly T[], places: readonly number[]): T[] {
  return places.map((place) => list[place] as T);
}

/** What was not loaded is beyond the limit, unless a floor dropped it before. */
function markChosen(scored: readonly Ranked[], chosen: readonly Ranked<LoadedMemory>[]): Ranked[] {
  const byId = new Map(chosen.map((one) => [one.memory.id, one]));
  const marked = scored.map((one) => byId.get(one.memory.id) ?? (isKept(one) ? drop(one, 'limit') : one));
  // A newer note may have taken the place of an older one.
  return marked.toSorted(byScore);
}
