import type { Candidate } from '../../db/queries/candidate.ts';
import { readMemoriesToShow, selectStandingMemories } from '../../db/sql/memories-to-show.ts';
import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import type { MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { Span } from '../../memory/spans.ts';
import { openReadable } from '../../encryption/sealing.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { hasCondition } from '../../memory/rules/rule-condition.ts';
import type { Maturity } from '../../memory/rules/rule-maturity.ts';
import { findCrowded, findDuplicates } from '../pipeline/diversify.ts';
import { matchTokens } from '../pipeline/match-tokens.ts';
import { rankMatches } from '../pipeline/rank-matches.ts';
import { drop, isKept, newestFirst, type Ranked } from '../pipeline/ranked.ts';
import { isRelevant, measureParts, measureRecency, relevanceFloor } from '../pipeline/score.ts';
import type { Stopwatch } from '../pipeline/stopwatch.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import type { Intent } from '../query/intent.ts';
import { mostFresh, prepareFresh, prepareRecall, recalledTypes, scoreRecall } from '../recall.ts';
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
export type ShownMemory = MemoryToShow & {
  id: string;
  /** Parts of the text of an episode that are not shown. */
  leftOut?: readonly Span[];
};

export interface ContextRanking {
  intent: Intent;
  /** The memories that may be shown, in no particular order. */
  eligible: Ranked<ShownMemory>[];
  /** Of these, who the user is and what the user asked for: they have a share of the tokens of their sections. */
  reserved: ReadonlySet<Ranked<ShownMemory>>;
  /** Of these, what others of its subject and predicate leave no share for: it waits for what the rest leaves. */
  crowded: ReadonlySet<Ranked<ShownMemory>>;
  /** What a stage dropped. */
  dropped: Ranked<MemoryReference>[];
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
  const fresh = questions.map((question) => prepareFreshEpisodes(context, question));
  const all = [...searches, ...fresh.filter((search) => search !== null)];
  const statements = questions.map((question) => selectStanding(context, question));
  const { matches: ranked, answers } = await rankMatches(context, all, stopwatch, statements);
  const matches = await matchTokens(context, all, ranked, stopwatch);
  return stopwatch.time('score', () =>
    Promise.all(
      questions.map(async (question, place) => {
        const search = searches[place] as PreparedSearch;
        const recall = { search, fresh: fresh[place] ?? null };
        const scored = scoreRecall(context, recall, (one) => matches[all.indexOf(one)]).flat();
        const standing = await openMemories(context, readMemoriesToShow(answers[place]) as unknown as MemoryToOpen[]);
        return rankForContext(context, question, search.routing.intent, standing, scored);
      }),
    ),
  );
}

/** Order of rules. A warning was learned from outcomes; a candidate was not tried yet. */
export const maturityOrder: readonly Maturity[] = ['proven', 'established', 'anti_pattern', 'candidate'];

/** Rules that are looked at for one without a condition: as many as a butler has in use. */
const mostRules = 200;

/** Returns which memories a context may show: facts and rules, and episodes where some are asked for. */
export function filterOfContext(
  context: MemoryContext,
  { butler, recentEpisodes }: Pick<ContextQuestion, 'butler' | 'recentEpisodes'>,
): MemoryFilter {
  const types = recentEpisodes > 0 ? memoryTypes : recalledTypes;
  return { ...completeSearchFilter(context, { types, scope: butler }), withUpcoming: true };
}

function prepareMatching(context: MemoryContext, { prompt, butler, mostOfType }: ContextQuestion): PreparedSearch {
  const input = { topic: prompt, scope: butler, limit: mostOfType };
  const search = prepareRecall(context, input);
  return { ...search, filter: { ...search.filter, withUpcoming: true }, toShow: true };
}

/** Prepares the search of fresh episodes that match; null where no episodes are asked for. */
function prepareFreshEpisodes(
  context: MemoryContext,
  { prompt, butler, recentEpisodes }: ContextQuestion,
): PreparedSearch | null {
  const search = recentEpisodes === 0 ? null : prepareFresh(context, { topic: prompt, scope: butler });
  return search === null ? null : { ...search, toShow: true };
}

function selectStanding(context: MemoryContext, question: ContextQuestion): Prisma.Sql {
  const { recentEpisodes } = question;
  const filter = filterOfContext(context, question);
  return selectStandingMemories({
    filter,
    identity: identityFacts,
    rules: { maturities: maturityOrder, most: mostRules },
    recentEpisodes,
  });
}

async function rankForContext(
  context: MemoryContext,
  question: ContextQuestion,
  intent: Intent,
  standing: readonly ShownMemory[],
  scored: readonly Ranked[],
): Promise<ContextRanking> {
  const always = standing.filter(isStanding).map((memory) => rankStanding(context, question, memory, scored));
  const alwaysIds = new Set(always.map(({ memory }) => memory.id));
  const others = limitTypes(
    question,
    scored.filter(({ memory }) => !alwaysIds.has(memory.id)),
  );
  const matching = [...(await openRanked(context, others.filter(isKept))), ...always.flatMap(asRule)].toSorted(byScore);
  const duplicates = findDuplicates(matching);
  const distinct = matching.filter((one) => !duplicates.has(one));
  return {
    intent,
    eligible: [...always.filter(({ memory }) => memory.type !== 'rule'), ...distinct],
    reserved: new Set([...always.filter(({ memory }) => memory.type === 'fact'), ...distinct.filter(isAskedByUser)]),
    crowded: findCrowded(distinct),
    dropped: [...others.filter((one) => !isKept(one)), ...[...duplicates].map((one) => drop(one, 'duplicate'))],
  };
}

/** Leaves out rules with a condition, which come if they are about the prompt. */
function isStanding({ type, row }: ShownMemory): boolean {
  return type !== 'rule' || !hasCondition(row.content);
}

/** What two memories that may say the same are compared by. */
type Comparable = ShownMemory & Pick<Candidate, 'maturity' | 'subjectKey' | 'predicateKey'>;

function asRule({ memory, ...ranked }: Ranked<ShownMemory>): Ranked<Comparable>[] {
  if (memory.type !== 'rule') return [];
  const { maturity } = memory.row;
  return [{ ...ranked, memory: { ...memory, maturity, subjectKey: null, predicateKey: null } }];
}

function isAskedByUser({ memory }: Ranked<ShownMemory>): boolean {
  return memory.type === 'rule' && memory.row.askedByUserAt !== null;
}

/** Best first, then the newer, then the lesser id. */
export function byScore(a: Ranked<ShownMemory>, b: Ranked<ShownMemory>): number {
  return b.score - a.score || newestFirst(a.memory.row, b.memory.row);
}

/** Scores what is in every context. An episode is there for having just happened, whatever it is about. */
function rankStanding(
  { config }: MemoryContext,
  { at }: ContextQuestion,
  memory: ShownMemory,
  scored: readonly Ranked[],
): Ranked<ShownMemory> {
  const { retrieval } = config.memory;
  const kept = { memory, droppedBy: null, reason: null };
  const match = scored.find((one) => one.memory.id === memory.id);
  if (match !== undefined && isRelevant(match)) return { ...match, ...kept };
  if (memory.type === 'episode') {
    const recency = measureRecency(memory.row.observedAt ?? memory.row.createdAt, at, retrieval);
    return { ...kept, score: relevanceFloor * recency, relevance: 0, parts: { match: null, composite: null } };
  }
  const { relevance, parts } = match ?? { relevance: 0, parts: { match: null } };
  const composite = measureParts({ type: memory.type, ...memory.row }, relevance, at, retrieval);
  return { ...kept, score: relevanceFloor * composite.baseline, relevance, parts: { match: parts.match, composite } };
}

/** Keeps as many facts, and as many rules, as a channel brings: neither may crowd the other out. Of fresh episodes, a few. */
function limitTypes({ mostOfType }: ContextQuestion, scored: readonly Ranked[]): Ranked[] {
  const left: Record<MemoryType, number> = { fact: mostOfType, rule: mostOfType, episode: mostFresh };
  return scored.map((one) => (isKept(one) && left[one.memory.type]-- <= 0 ? drop(one, 'limit') : one));
}

/** Opens candidates, which came with the columns that are shown of them. */
async function openRanked(context: MemoryContext, ranked: readonly Ranked[]): Promise<Ranked<Comparable>[]> {
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
