import { readMemoriesToShow, selectStandingMemories } from '../../db/sql/memories-to-show.ts';
import { memoryTypes } from '../../db/tables.ts';
import type { CandidateRow } from '../../db/sql/search-candidates.ts';
import type { RowFilter } from '../../db/sql/search-filter.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { Memory } from '../../memory/memories.ts';
import { openReadable } from '../../memory/sealing.ts';
import { diversify } from '../pipeline/diversify.ts';
import { completeFilter } from '../filter.ts';
import { findMatches } from '../pipeline/find-matches.ts';
import { identityFacts } from './identity.ts';
import type { MemoryToOpen, MemoryToShow } from './memory-lines.ts';
import type { PreparedSearch } from '../plan/plan.ts';
import { prepareRecall, recalledTypes, scoreMatches, type Scored } from '../recall.ts';
import type { ReceiptCandidate, ReceiptDrop } from '../receipts/receipts.ts';
import { recency, scorePartsOf, weightedScore } from '../pipeline/score.ts';
import type { Stopwatch } from '../pipeline/stopwatch.ts';
import type { Intent } from '../query/intent.ts';

export interface ContextQuestion {
  prompt: string;
  butler: string;
  recentEpisodes: number;
  /** Facts, and rules, that each channel brings and that may be shown. */
  mostOfType: number;
  at: Date;
}

export interface RankedMemory {
  memory: MemoryToShow;
  scores: Scores;
  /** Says who the user is, and has a part of the room to itself. */
  isReserved: boolean;
  /** Others of its subject and predicate that rank better have their share. */
  isCrowded: boolean;
}

export interface ContextRanking {
  intent: Intent;
  /** In no particular order. */
  ranked: RankedMemory[];
  /** Those that were looked at and may not be shown, and why. */
  candidates: ReceiptCandidate[];
  dropped: ReceiptDrop[];
}

type Scores = Pick<ReceiptCandidate, 'score' | 'relevance' | 'parts' | 'composite'>;

/**
 * What may be shown: what matches the prompt as in a recall, and what stands in any context. What stands is asked for
 * together with the plan of the search; what matches, for all questions at once.
 */
export async function rankForContexts(
  context: MemoryContext,
  questions: readonly ContextQuestion[],
  stopwatch: Stopwatch,
): Promise<ContextRanking[]> {
  const searches = questions.map((question) => prepareMatching(context, question));
  const statements = questions.map((question) => standingStatement(context, question));
  const { found, answers } = await findMatches(context, searches, stopwatch, statements);
  const drafts = await stopwatch.time('score', () =>
    Promise.all(
      questions.map(async (question, place) => {
        const scored = scoreMatches(context, searches[place] as PreparedSearch, found[place]?.matches ?? []);
        const standing = await openAll(context, readMemoriesToShow(answers[place]) as unknown as MemoryToOpen[]);
        return draftOf(context, question, standing, scored);
      }),
    ),
  );
  return stopwatch.time('choose', () =>
    Promise.all(
      drafts.map((draft, place) => rankingOf(context, draft, (searches[place] as PreparedSearch).routing.intent)),
    ),
  );
}

/** Returns which memories a context may show: facts and rules, and episodes where some are asked for. */
export function filterOfContext(
  context: MemoryContext,
  { butler, recentEpisodes }: Pick<ContextQuestion, 'butler' | 'recentEpisodes'>,
): RowFilter {
  return completeFilter(context, { types: recentEpisodes > 0 ? memoryTypes : recalledTypes, scope: butler });
}

function prepareMatching(context: MemoryContext, { prompt, butler, mostOfType }: ContextQuestion): PreparedSearch {
  const input = { topic: prompt, scope: butler, limit: mostOfType };
  return { ...prepareRecall(context, input), toShow: true };
}

function standingStatement(context: MemoryContext, question: ContextQuestion): Prisma.Sql {
  const { recentEpisodes } = question;
  const filter = filterOfContext(context, question);
  return selectStandingMemories({ filter, identity: identityFacts, recentEpisodes });
}

interface Draft {
  /** What stands in any context. */
  always: RankedMemory[];
  /** What matches and does not stand already. */
  others: Scored[];
  /** Those of it that may be shown. */
  eligible: Scored[];
}

function draftOf(
  context: MemoryContext,
  question: ContextQuestion,
  standing: readonly MemoryToShow[],
  scored: readonly Scored[],
): Draft {
  const alwaysIds = new Set(standing.map(({ row }) => row.id));
  const others = scored.filter(({ candidate }) => !alwaysIds.has(candidate.id));
  return {
    always: standing.map((memory) => rankStanding(context, question, memory, scored)),
    others,
    eligible: listEligible(question, others),
  };
}

async function rankingOf(
  context: MemoryContext,
  { always, others, eligible }: Draft,
  intent: Intent,
): Promise<ContextRanking> {
  const memories = await openAll(context, eligible.map(memoryOf));
  const byId = new Map(memories.map((memory) => [memory.row.id, memory]));
  const matching = rankMatching(context, eligible, byId);
  const candidates: ReceiptCandidate[] = [];
  const dropped: ReceiptDrop[] = [];
  for (const { candidate, score, relevance, parts, composite, droppedBy } of others) {
    if (droppedBy === null) continue;
    const { type, id } = candidate;
    candidates.push({ type, id, score, relevance, parts, composite });
    dropped.push({ type, id, stage: droppedBy, reason: null });
  }
  return { intent, ranked: [...always, ...matching], candidates, dropped };
}

function rankStanding(
  context: MemoryContext,
  { at }: ContextQuestion,
  memory: MemoryToShow,
  scored: readonly Scored[],
): RankedMemory {
  const { retrieval } = context.config.memory;
  if (memory.type === 'episode') {
    return { memory, ...standsFreely, scores: recencyOf(memory, at, retrieval.recencyHalfLifeDays) };
  }
  const match = scored.find(({ candidate }) => candidate.id === memory.row.id);
  if (match !== undefined) return { memory, ...standsFreely, isReserved: true, scores: scoresOf(match) };
  const composite = scorePartsOf(unmatched(memory), 0, at, retrieval);
  const scores = { score: weightedScore(composite, retrieval), relevance: 0, parts: null, composite };
  return { memory, ...standsFreely, isReserved: true, scores };
}

const standsFreely = { isReserved: false, isCrowded: false };

/** The newest first: an episode is in a context for having just happened, and not for what it is about. */
function recencyOf({ row }: MemoryToShow & { type: 'episode' }, at: Date, halfLifeDays: number): Scores {
  const happenedAt = (row.observedAt ?? row.createdAt).getTime();
  const score = recency({ created_at: happenedAt, referenced_at: null }, at, halfLifeDays);
  return { score, relevance: 0, parts: null, composite: null };
}

/** What is scored of a memory, as a search that it does not match would bring it. */
function unmatched({ type, row }: MemoryToShow & { type: 'fact' | 'rule' }): CandidateRow {
  return {
    type,
    id: row.id,
    created_at: row.createdAt.getTime(),
    referenced_at: row.lastReferencedAt?.getTime() ?? null,
    confirmed_at: row.lastConfirmedAt?.getTime() ?? null,
    importance: row.importance,
    confidence: row.confidence,
    decay_rate: row.decayRate,
    maturity: type === 'rule' ? row.maturity : null,
  } as CandidateRow;
}

/**
 * What no floor has dropped. Rules must not be crowded out by facts, nor facts by rules: as many of each as a channel
 * brings.
 */
function listEligible({ mostOfType }: ContextQuestion, scored: readonly Scored[]): Scored[] {
  const rooms = { fact: mostOfType, rule: mostOfType, episode: 0 };
  const above = scored.filter((one) => one.droppedBy === null);
  for (const one of above) if (rooms[one.candidate.type]-- <= 0) one.droppedBy = 'limit';
  return above.filter(({ droppedBy }) => droppedBy === null);
}

/** What says the same as a better one is left out. */
function rankMatching(
  context: MemoryContext,
  eligible: readonly Scored[],
  memories: ReadonlyMap<string, MemoryToShow>,
): RankedMemory[] {
  const { clusterLimit, duplicateSimilarity } = context.config.memory.retrieval;
  const contenders = eligible.flatMap((one) => {
    const memory = memories.get(one.candidate.id);
    // What is compared is what is shown; the columns that are not there play no part in it.
    return memory === undefined ? [] : [{ candidate: one.candidate, scored: one, memory: memory as Memory }];
  });
  const limit = contenders.length;
  const { chosen } = diversify(contenders, { limit, clusterLimit, duplicateSimilarity });
  const sizes = new Map<string, number>();
  for (const { folded } of chosen) for (const one of folded) one.scored.droppedBy = 'duplicate';
  return chosen.map(({ contender }) => {
    const isCrowded = growCluster(sizes, contender.scored) > clusterLimit;
    return { memory: contender.memory, isReserved: false, isCrowded, scores: scoresOf(contender.scored) };
  });
}

/** How many of its cluster there are, with it. A rule has none and is always the first. */
function growCluster(sizes: Map<string, number>, { candidate: { subject_key, predicate_key } }: Scored): number {
  if (subject_key === null) return 1;
  const cluster = JSON.stringify([subject_key, predicate_key]);
  const size = (sizes.get(cluster) ?? 0) + 1;
  sizes.set(cluster, size);
  return size;
}

function memoryOf({ candidate: { type, shown } }: Scored): MemoryToOpen {
  return { type, row: shown } as unknown as MemoryToOpen;
}

/** In plain. What cannot be read is not shown. */
async function openAll(context: MemoryContext, memories: readonly MemoryToOpen[]): Promise<MemoryToShow[]> {
  const rows = await openReadable(
    context,
    memories.map(({ row }) => row),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return memories.flatMap(({ type, row: { id } }) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ type, row } as MemoryToShow];
  });
}

function scoresOf({ score, relevance, parts, composite }: Scored): Scores {
  return { score, relevance, parts, composite };
}
