import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  eraseEvents,
  eraseFromKeys,
  eraseFromReceipts,
  eraseFromRuns,
  lockMemories,
  selectBridges,
  selectDerived,
  selectEventsToErase,
  selectFactsAbout,
  selectMentions,
  selectStanding,
  type Erased,
} from '../db/sql/erase.ts';
import { memoryTypes, type MemoryType } from '../db/sql/memory-snapshot.ts';
import { invalidInput, MemoryError } from '../errors.ts';
import type { Erasure, Prisma } from '../generated/prisma/client.ts';
import { actorOf, type MemoryContext } from './context.ts';
import { recordEvents, type EventInput } from './events.ts';
import { lockKeysOf } from './facts.ts';
import { createLink, removeLink, type MemoryReference } from './links.ts';
import { changeMemory, mutate, type Mutation } from './mutation.ts';
import { normaliseName } from './text.ts';
import { checkUuid } from './values.ts';

export type { Erasure };

export interface EraseMemoryInput extends MemoryReference {
  /** The id once more: what is erased cannot be brought back. */
  confirm: string;
  /** Facts and rules that were learned from an episode, too. */
  includeDerived?: boolean | null | undefined;
}

export interface SubjectInput {
  subject: string;
  /** Types of memories that only mention it, to be erased too. */
  includeMentions?: readonly MemoryType[] | null | undefined;
}

/** What an erasure would take, and what it would leave that says something of the same. */
export interface ErasurePlan {
  memories: MemoryReference[];
  /** Learned from one of them, or naming the subject. They stay unless they are asked for. */
  related: MemoryReference[];
  /** Names exactly these memories. What was stored or erased since makes it another. */
  confirmation: string;
  /** How many more there are, for another erasure after this one. */
  remaining: number;
}

/** In one transaction; the others are for the next erasure of the same subject. */
const mostMemories = 1000;

export async function planMemoryErasure(
  context: MemoryContext,
  input: Omit<EraseMemoryInput, 'confirm'>,
): Promise<ErasurePlan> {
  requireAdmin(context);
  const memory = { type: input.type, id: checkUuid('id', input.id) };
  await refuseUnknown(context, memory);
  const derived = memory.type === 'episode' ? await ask(context, (tenant) => selectDerived(tenant, [memory.id])) : [];
  return input.includeDerived === true ? planOf([memory, ...derived], []) : planOf([memory], derived);
}

export async function planSubjectErasure(context: MemoryContext, input: SubjectInput): Promise<ErasurePlan> {
  requireAdmin(context);
  const subject = normaliseName('subject', input.subject);
  const about = await ask(context, (tenant) => selectFactsAbout(tenant, subject));
  const mentions = await ask(context, (tenant) => selectMentions(tenant, subject));
  const isWanted = ({ type }: MemoryReference): boolean => input.includeMentions?.includes(type) === true;
  return planOf(
    [...about, ...mentions.filter(isWanted)],
    mentions.filter((mention) => !isWanted(mention)),
  );
}

function planOf(found: MemoryReference[], related: MemoryReference[]): ErasurePlan {
  const memories = found.slice(0, mostMemories);
  const names = memories.map(({ type, id }) => `${type}:${id}`).toSorted();
  const confirmation = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 16);
  return { memories, related, confirmation, remaining: found.length - memories.length };
}

async function ask(context: MemoryContext, query: (tenantId: string) => Prisma.Sql): Promise<MemoryReference[]> {
  const { tenantId } = context.principal;
  return context.db.tenant(tenantId).$queryRaw<MemoryReference[]>(query(tenantId));
}

/** Takes a memory out of the world for good. What is left says that it was there, and nothing of what it said. */
export async function eraseMemory(context: MemoryContext, input: EraseMemoryInput): Promise<Erasure> {
  const plan = await planMemoryErasure(context, input);
  const id = checkUuid('id', input.id);
  if (input.confirm.trim().toLowerCase() !== id) {
    throw invalidInput('confirm', `the id once more, ${id}: what is erased cannot be brought back`, input.confirm);
  }
  return erase(context, plan.memories, []);
}

/** All facts about a subject, and the memories that mention it if they are asked for. */
export async function eraseSubject(
  context: MemoryContext,
  input: SubjectInput & { confirm: string },
): Promise<Erasure> {
  const plan = await planSubjectErasure(context, input);
  if (input.confirm.trim().toLowerCase() !== plan.confirmation) {
    throw new MemoryError(
      'INVALID_INPUT',
      'confirm: the confirmation of a dry run of the same erasure, and of nothing stored or erased since',
      { hint: 'Make a dry run, look at what it lists, and give its confirmation.' },
    );
  }
  if (plan.memories.length === 0) throw new MemoryError('NOT_FOUND', 'nothing is known about the subject');
  return erase(context, plan.memories, [normaliseName('subject', input.subject)]);
}

/** Erasing is for people who answer for the tenant, and not for butlers. */
function requireAdmin({ principal }: MemoryContext): void {
  if (principal.role === 'admin') return;
  throw new MemoryError('FORBIDDEN', `an erasure is for the role admin; given ${principal.role}`);
}

interface Standing extends MemoryReference {
  told: boolean | null;
  erasure: string | null;
}

async function refuseUnknown(context: MemoryContext, memory: MemoryReference): Promise<void> {
  const { tenantId } = context.principal;
  const [standing] = await context.db
    .tenant(tenantId)
    .$queryRaw<Standing[]>(selectStanding({ tenantId, memories: [memory] }));
  if (standing?.told === true) return;
  const { type, id } = memory;
  if (standing?.erasure != null) {
    throw new MemoryError('INVALID_TRANSITION', `${type} ${id} is erased already, by erasure ${standing.erasure}`);
  }
  throw new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
}

async function erase(
  context: MemoryContext,
  memories: readonly MemoryReference[],
  texts: readonly string[],
): Promise<Erasure> {
  const { tenantId } = context.principal;
  const id = uuidv7();
  await mutate(context, async (mutation) => {
    const erased = { tenantId, memories };
    const said = await lockAll(mutation, erased);
    await bridgeChains(mutation, erased);
    const links = await removeLinks(mutation, erased);
    const applications = await removeRows(mutation, erased);
    const counts = { memories: memories.length, links, applications };
    await eraseTraces(mutation, erased, { id, texts: [...texts, ...said], counts });
  });
  return context.db.tenant(tenantId).erasure.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
}

/** From here on nobody writes to them. Gives what they say, for the texts of queries that repeat it. */
async function lockAll(mutation: Mutation, { tenantId, memories }: Erased): Promise<string[]> {
  const { transaction } = mutation;
  const idsOf = (type: MemoryType): string[] => memories.filter((memory) => memory.type === type).map(({ id }) => id);
  await lockKeysOf(mutation, idsOf('fact'));
  for (const type of memoryTypes) await transaction.$queryRaw(lockMemories(type, tenantId, idsOf(type)));
  const [inFacts, inRules, inEpisodes] = [idsOf('fact'), idsOf('rule'), idsOf('episode')].map((id) => ({
    where: { tenantId, id: { in: id } },
    select: { content: true },
  })) as [WhereContent, WhereContent, WhereContent];
  const rows = [
    ...(await transaction.fact.findMany(inFacts)),
    ...(await transaction.rule.findMany(inRules)),
    ...(await transaction.episode.findMany(inEpisodes)),
  ];
  return rows.map(({ content }) => content).filter((content) => content.length >= shortestText);
}

interface WhereContent {
  where: { tenantId: string; id: { in: string[] } };
  select: { content: true };
}

/** A query that holds "tea" repeats no memory that says "tea". */
const shortestText = 8;

/** A fact that took the place of an erased one takes that of the one before: the chain is read around the gap. */
async function bridgeChains({ consequence }: Mutation, erased: Erased): Promise<void> {
  const { transaction, tenantId } = consequence;
  const bridges = await transaction.$queryRaw<{ id: string; before: string | null }[]>(selectBridges(erased));
  for (const { id, before } of bridges) {
    await changeMemory(consequence, { type: 'fact', id }, 'fact.bridged', () =>
      transaction.fact.update({
        where: { tenantId_id: { tenantId, id } },
        data: { supersedesId: before, version: { increment: 1 } },
        select: { id: true },
      }),
    );
    if (before === null) continue;
    await createLink(consequence, {
      source: { type: 'fact', id },
      target: { type: 'fact', id: before },
      relation: 'supersedes',
    });
  }
}

/** Of facts and rules: an episode leaves its tombstone, which what cites it still finds. */
async function removeLinks({ consequence }: Mutation, { tenantId, memories }: Erased): Promise<number> {
  const gone = memories.filter(({ type }) => type !== 'episode');
  const ids = gone.map(({ id }) => id);
  const links = await consequence.transaction.memoryLink.findMany({
    where: {
      tenantId,
      OR: [
        { sourceType: { not: 'episode' }, sourceId: { in: ids } },
        { targetType: { not: 'episode' }, targetId: { in: ids } },
      ],
    },
  });
  for (const link of links) await removeLink(consequence, link);
  return links.length;
}

/** Gives how many judgements of rules went with them. */
async function removeRows({ transaction, now }: Mutation, { tenantId, memories }: Erased): Promise<number> {
  const idsOf = (type: MemoryType): string[] => memories.filter((memory) => memory.type === type).map(({ id }) => id);
  const [facts, rules, episodes] = [idsOf('fact'), idsOf('rule'), idsOf('episode')];
  const { count } = await transaction.ruleApplication.deleteMany({ where: { tenantId, ruleId: { in: rules } } });
  await transaction.rule.deleteMany({ where: { tenantId, id: { in: rules } } });
  await transaction.fact.updateMany({ where: { tenantId, id: { in: facts } }, data: { supersedesId: null } });
  await transaction.fact.deleteMany({ where: { tenantId, id: { in: facts } } });
  await transaction.$executeRaw`
    INSERT INTO episode_tombstones (tenant_id, id, butler, session_id, reason, created_at, deleted_at)
    SELECT tenant_id, id, butler, session_id, 'erased', created_at, ${now}::timestamptz FROM episodes
    WHERE tenant_id = ${tenantId} AND id = ANY (${episodes}::uuid[]) ON CONFLICT DO NOTHING`;
  await transaction.episode.deleteMany({ where: { tenantId, id: { in: episodes } } });
  return count;
}

interface Traces {
  id: string;
  texts: readonly string[];
  counts: Record<string, number>;
}

/** What else has said it; then the receipt of all this, and the events that name it. */
async function eraseTraces(mutation: Mutation, erased: Erased, { id, texts, counts }: Traces): Promise<void> {
  const { transaction, context, now } = mutation;
  const runs = await transaction.$queryRaw<{ id: string }[]>(eraseFromRuns(erased));
  const runIds = runs.map((run) => run.id);
  const events = await transaction.$queryRaw<{ id: string }[]>(selectEventsToErase(erased, runIds));
  const eventIds = events.map((event) => event.id);
  const answers = [...erased.memories.map((memory) => memory.id), ...eventIds];
  const receipts = await transaction.$executeRaw(eraseFromReceipts(erased, texts));
  const idempotencyKeys = await transaction.$executeRaw(eraseFromKeys(erased, answers, id));
  const memories = erased.memories.map((memory) => ({ type: memory.type, id: memory.id }));
  const receipt = {
    id,
    at: now,
    actor: actorOf(context),
    requestId: context.requestContext.requestId,
    memories,
    counts: { ...counts, events: eventIds.length, receipts, idempotencyKeys, runs: runIds.length },
  };
  const [row] = await transaction.$queryRaw<[{ hash: string }]>(eraseEvents(receipt, eventIds));
  await recordErasure(mutation, erased.memories, { id, hash: row.hash });
}

/** One event for each memory, so that the history of each ends with it; the first is what the caller did. */
async function recordErasure(
  mutation: Mutation,
  memories: Erased['memories'],
  erasure: { id: string; hash: string },
): Promise<void> {
  const [first, ...others] = memories.map(({ type, id }): EventInput => ({
    eventType: `${type}.erased`,
    entityType: type,
    entityId: id,
    details: { erasure },
  }));
  if (first !== undefined) await mutation.record(first);
  if (others.length === 0) return;
  const { context, transaction, eventId: causeEventId } = mutation;
  await recordEvents(
    context,
    transaction,
    others.map((event) => ({ ...event, causeEventId })),
  );
}
