import type { Candidate } from '../../db/queries/candidate.ts';
import { readMemoriesToShow, selectStandingMemories } from '../../db/sql/memories-to-show.ts';
import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import type { MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { openReadable } from '../../encryption/sealing.ts';
import { findCrowded, findDuplicates } from '../pipeline/diversify.ts';
import { rankMatches, type RankedMatches } from '../pipeline/rank-matches.ts';
import { drop, isKept, type Ranked } from '../pipeline/ranked.ts';
import { measureParts, measureRecency, relevanceFloor } from '../pipeline/score.ts';
import type { Stopwatch } from '../pipeline/stopwatch.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import type { Intent } from '../query/intent.ts';
import { prepareRecall, recalledTypes, scoreMatches } from '../recall.ts';
import { completeSearchFilter } from '../search.ts';
import { identityFacts } from './identity.ts';
import type { MemoryToOpen, MemoryToShow } from './memory-lines.ts';

export interface ContextQuestion {
  prompt: string;
  butler: string;
  recentEpisodes: number;
  /** Facts, and rules, that each channel brings and that may be shown. */
  mostOfType: number;
  at: Date;
}

/** A memory whose line can be written. */
export type ShownMemory = MemoryToShow & { id: string };

export interface ContextRanking {
  intent: Intent;
  /** The memories that may be shown, in no particular order. */
  eligible: Ranked<ShownMemory>[];
  /** Of these, what says who the user is: it has a share of the facts' tokens to itself. */
  reserved: ReadonlySet<Ranked<ShownMemory>>;
  /** Of these, what others of its subject and predicate leave no share for: it waits for what the rest leaves. */
  crowded: ReadonlySet<Ranked<ShownMemory>>;
  /** What a stage dropped. */
  dropped: Ranked[];
}

/**
 * Ranks what contexts may show: what matches the prompt as in a recall, and what is in every context. The latter is read
 * with the plan of the search; what matches, for all questions at once.
 */
export async function rankForContexts(
  context: MemoryContext,
  questions: readonly ContextQuestion[],
  stopwatch: Stopwatch,
): Promise<ContextRanking[]> {
  const searches = questions.map((question) => prepareMatching(context, question));
  const statements = questions.map((question) => selectStanding(context, question));
  const { matches, answers } = await rankMatches(context, searches, stopwatch, statements);
  return stopwatch.time('score', () =>
    Promise.all(
      questions.map(async (question, place) => {
        const search = searches[place] as PreparedSearch;
        const scored = scoreMatches(context, search, matches[place] as RankedMatches);
        const standing = await openMemories(context, readMemoriesToShow(answers[place]) as unknown as MemoryToOpen[]);
        return rankForContext(context, question, search.routing.intent, standing, scored);
      }),
    ),
  );
}

/** Returns which memories a context may show: facts and rules, and episodes where some are asked for. */
export function filterOfContext(
  context: MemoryContext,
  { butler, recentEpisodes }: Pick<ContextQuestion, 'butler' | 'recentEpisodes'>,
): MemoryFilter {
  return completeSearchFilter(context, { types: recentEpisodes > 0 ? memoryTypes : recalledTypes, scope: butler });
}

function prepareMatching(context: MemoryContext, { prompt, butler, mostOfType }: ContextQuestion): PreparedSearch {
  const input = { topic: prompt, scope: butler, limit: mostOfType };
  return { ...prepareRecall(context, input), toShow: true };
}

function selectStanding(context: MemoryContext, question: ContextQuestion): Prisma.Sql {
  const { recentEpisodes } = question;
  const filter = filterOfContext(context, question);
  return selectStandingMemories({ filter, identity: identityFacts, recentEpisodes });
}

async function rankForContext(
  context: MemoryContext,
  question: ContextQuestion,
  intent: Intent,
  standing: readonly ShownMemory[],
  scored: readonly Ranked[],
): Promise<ContextRanking> {
  const always = standing.map((memory) => rankStanding(context, question, memory, scored));
  const alwaysIds = new Set(standing.map(({ id }) => id));
  const others = limitTypes(question, scored.filter(({ memory }) => !alwaysIds.has(memory.id)).map(keepStandingRule));
  const matching = await openRanked(context, others.filter(isKept));
  const duplicates = findDuplicates(matching);
  const distinct = matching.filter((one) => !duplicates.has(one));
  return {
    intent,
    eligible: [...always, ...distinct],
    reserved: new Set(always.filter(({ memory }) => memory.type !== 'episode')),
    crowded: findCrowded(distinct),
    dropped: [...others.filter((one) => !isKept(one)), ...[...duplicates].map((one) => drop(one, 'duplicate'))],
  };
}

/** Keeps a rule that is not about the prompt if it holds whatever the prompt is. */
function keepStandingRule(one: Ranked): Ranked {
  const { type, content } = one.memory as Candidate & { content: string };
  const isStanding = type === 'rule' && one.droppedBy === 'relevance_floor' && holdsAlways(content);
  return isStanding ? { ...one, droppedBy: null } : one;
}

/** A rule with a condition, or about somebody or something by name, is for those cases only. */
function holdsAlways(rule: string): boolean {
  return !condition.test(rule) && !properName.test(rule);
}

const condition = /\b(when|whenever|if|before|after|while|unless|until|once|during|in case)\b/i;
const properName = /[^.!?:"\s]\s+["“]?\p{Lu}\p{Ll}/u;

/** Scores what is in every context. An episode is there for having just happened, and not for what it is about. */
function rankStanding(
  { config }: MemoryContext,
  { at }: ContextQuestion,
  memory: ShownMemory,
  scored: readonly Ranked[],
): Ranked<ShownMemory> {
  const { retrieval } = config.memory;
  const kept = { memory, droppedBy: null, reason: null };
  if (memory.type === 'episode') {
    const happenedAt = memory.row.observedAt ?? memory.row.createdAt;
    const parts = { match: null, composite: null };
    return { ...kept, score: measureRecency(happenedAt, at, retrieval), relevance: 0, parts };
  }
  const match = scored.find((one) => one.memory.id === memory.id);
  if (match !== undefined) return { ...match, ...kept };
  const composite = measureParts({ type: memory.type, ...memory.row }, 0, at, retrieval);
  const parts = { match: null, composite };
  return { ...kept, score: relevanceFloor * composite.baseline, relevance: 0, parts };
}

/** Keeps as many facts, and as many rules, as a channel brings: neither may crowd the other out. */
function limitTypes({ mostOfType }: ContextQuestion, scored: readonly Ranked[]): Ranked[] {
  const left: Record<MemoryType, number> = { fact: mostOfType, rule: mostOfType, episode: 0 };
  return scored.map((one) => (isKept(one) && left[one.memory.type]-- <= 0 ? drop(one, 'limit') : one));
}

/** Opens candidates, which came with the columns that are shown of them. */
async function openRanked(
  context: MemoryContext,
  ranked: readonly Ranked[],
): Promise<Ranked<ShownMemory & Candidate>[]> {
  const opened = await openMemories(
    context,
    ranked.map(({ memory }) => ({ type: memory.type, row: memory }) as unknown as MemoryToOpen),
  );
  const byId = new Map(opened.map((memory) => [memory.id, memory]));
  return ranked.flatMap((one) => {
    const memory = byId.get(one.memory.id);
    return memory === undefined ? [] : [{ ...one, memory: { ...one.memory, ...memory } }];
  });
}

/** Decrypts sealed facts. A fact that cannot be decrypted is left out. */
async function openMemories(context: MemoryContext, memories: readonly MemoryToOpen[]): Promise<ShownMemory[]> {
  const rows = await openReadable(
    context,
    memories.map(({ row }) => row),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return memories.flatMap(({ type, row: { id } }) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ type, id, row } as ShownMemory];
  });
}
