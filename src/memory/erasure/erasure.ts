import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { TenantClient } from '../../db/database.ts';
import { lockFactKeys } from '../../db/queries/facts.ts';
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
  selectKeysToErase,
  selectMentions,
  selectReceiptsToErase,
  selectRunsToErase,
  selectSaid,
  selectSources,
  selectStanding,
  type Erased,
} from '../../db/sql/erase.ts';
import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import type { Sealable } from '../../db/stored-fact.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { Erasure, Prisma } from '../../generated/prisma/client.ts';
import { actorOf, type MemoryContext } from '../context.ts';
import { recordEvents, type EventInput } from '../events.ts';
import { createLink, removeLink, type MemoryReference } from '../links/links.ts';
import { changeMemory, mutate, type Mutation } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { openReadable } from '../sealing.ts';
import { normaliseName } from '../text.ts';
import { checkUuid } from '../values.ts';
import { hasWords } from '../whole-words.ts';

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
  /** Learned from one of them, what one of them was learned from, or naming the subject. They stay unless they are asked for. */
  related: MemoryReference[];
  /** How much of which kind would be erased or blanked, by the names that the receipt of the erasure has. */
  counts: ErasureCounts;
  /** Names exactly these memories: it changes when a memory is stored or erased. */
  confirmation: string;
  /** How many more there are, for another erasure after this one. */
  remaining: number;
}

export type ErasureCounts = Record<
  'memories' | 'events' | 'links' | 'applications' | 'receipts' | 'idempotencyKeys' | 'runs',
  number
>;

/** In one transaction; the others are for the next erasure of the same subject. */
const mostMemories = 1000;

export async function planMemoryErasure(
  context: MemoryContext,
  input: Omit<EraseMemoryInput, 'confirm'>,
): Promise<ErasurePlan> {
  authorize(context, 'query erasurePlan');
  const memory = { type: input.type, id: checkUuid('id', input.id) };
  await refuseUnknown(context, memory);
  const derived = memory.type === 'episode' ? await ask(context, (tenant) => selectDerived(tenant, [memory.id])) : [];
  const isWanted = input.includeDerived === true;
  return planOf(context, isWanted ? [memory, ...derived] : [memory], isWanted ? [] : derived, []);
}

export async function planSubjectErasure(context: MemoryContext, input: SubjectInput): Promise<ErasurePlan> {
  authorize(context, 'query erasurePlan');
  const subject = normaliseName('subject', input.subject);
  const about = await ask(context, (tenant) => selectFactsAbout(tenant, subject));
  const mentions = await ask(context, (tenant) => selectMentions(tenant, subject));
  const isWanted = ({ type }: MemoryReference): boolean => input.includeMentions?.includes(type) === true;
  const wanted = [...about, ...mentions.filter(isWanted)];
  const left = mentions.filter((mention) => !isWanted(mention));
  return planOf(context, wanted, left, [subject]);
}

async function planOf(
  context: MemoryContext,
  found: MemoryReference[],
  left: MemoryReference[],
  texts: readonly string[],
): Promise<ErasurePlan> {
  const { tenantId } = context.principal;
  const memories = found.slice(0, mostMemories);
  const names = memories.map(nameOf).toSorted();
  const confirmation = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 16);
  const erased = { tenantId, memories };
  const sources = await ask(context, () => selectSources(erased));
  const known = new Set([...found, ...left].map(nameOf));
  return {
    memories,
    related: [...left, ...sources.filter((source) => !known.has(nameOf(source)))],
    counts: await foretell(context, erased, texts),
    confirmation,
    remaining: found.length - memories.length,
  };
}

function nameOf({ type, id }: MemoryReference): string {
  return `${type}:${id}`;
}

/** What the erasure would find, by the statements that it finds it with. Nothing is locked or written. */
async function foretell(context: MemoryContext, erased: Erased, texts: readonly string[]): Promise<ErasureCounts> {
  const { tenantId } = context.principal;
  const client = context.db.client;
  const ruleIds = idsOf(erased, 'rule');
  const runs = await client.$queryRaw<{ id: string }[]>(selectRunsToErase(erased));
  const traces = await findTraces(context, client, erased, { texts, runIds: runs.map(({ id }) => id) });
  const keys = await client.$queryRaw<{ id: string }[]>(selectKeysToErase(erased, traces.answers));
  return {
    memories: erased.memories.length,
    events: traces.eventIds.length,
    links: await client.memoryLink.count({ where: linksOf(erased) }),
    applications: await client.ruleApplication.count({ where: { tenantId, ruleId: { in: ruleIds } } }),
    receipts: traces.receiptIds.length,
    idempotencyKeys: keys.length,
    runs: runs.length,
  };
}

interface Traces {
  eventIds: string[];
  receiptIds: string[];
  /** The ids by which an idempotency key may know of them. */
  answers: string[];
}

/** The events and receipts that say what they say. */
async function findTraces(
  context: MemoryContext,
  client: TenantClient,
  erased: Erased,
  { texts, runIds }: { texts: readonly string[]; runIds: readonly string[] },
): Promise<Traces> {
  const events = await client.$queryRaw<{ id: string }[]>(selectEventsToErase(erased, runIds));
  const eventIds = events.map(({ id }) => id);
  const said = [...texts, ...(await readSaid(context, client, erased))];
  const receipts = await client.$queryRaw<ReceiptFound[]>(selectReceiptsToErase(erased, said));
  const isTold = (receipt: ReceiptFound): boolean =>
    receipt.isNamed || receipt.said.some((text) => hasWords(receipt.query, text));
  return {
    eventIds,
    receiptIds: receipts.filter(isTold).map(({ id }) => id),
    answers: [...erased.memories.map(({ id }) => id), ...eventIds],
  };
}

interface ReceiptFound {
  id: string;
  query: string;
  isNamed: boolean;
  /** Texts that are somewhere in the query, be it within a word. */
  said: string[];
}

/** In plain. What cannot be read any more cannot be looked for, and must not keep it from being erased. */
async function readSaid(context: MemoryContext, client: TenantClient, erased: Erased): Promise<string[]> {
  const rows = await client.$queryRaw<SaidRow[]>(selectSaid(erased));
  const readable = await openReadable(context, rows, client);
  return [...new Set(readable.map(({ content }) => content))].filter((content) => content.trim() !== '');
}

interface SaidRow {
  id: string;
  content: Sealable<string>;
  sealedContent: string | null;
  dataKeyId: string | null;
}

async function ask(context: MemoryContext, query: (tenantId: string) => Prisma.Sql): Promise<MemoryReference[]> {
  const { tenantId } = context.principal;
  return context.db.client.$queryRaw<MemoryReference[]>(query(tenantId));
}

/** Permanently erases a memory. The traces that remain say that it existed, and nothing of its content. */
export async function eraseMemory(context: MemoryContext, input: EraseMemoryInput): Promise<Erasure> {
  authorize(context, 'mutation eraseMemory');
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
  authorize(context, 'mutation eraseSubject');
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

interface Standing extends MemoryReference {
  told: boolean | null;
  erasure: string | null;
}

async function refuseUnknown(context: MemoryContext, memory: MemoryReference): Promise<void> {
  const { tenantId } = context.principal;
  const [standing] = await context.db.client.$queryRaw<Standing[]>(selectStanding({ tenantId, memories: [memory] }));
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
    const { transaction } = mutation;
    const erased = { tenantId, memories };
    await lockAll(mutation, erased);
    const runs = await transaction.$queryRaw<{ id: string }[]>(eraseFromRuns(erased));
    const runIds = runs.map((run) => run.id);
    const traces = await findTraces(context, transaction, erased, { texts, runIds });
    await bridgeChains(mutation, erased);
    const links = await removeLinks(mutation, erased);
    const applications = await removeRows(mutation, erased);
    const counts = { memories: memories.length, links, applications, runs: runIds.length };
    await eraseTraces(mutation, erased, { id, traces, counts });
  });
  return context.db.client.erasure.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
}

/** From here on nobody writes to them. */
async function lockAll(mutation: Mutation, erased: Erased): Promise<void> {
  const { transaction, tenantId } = mutation;
  await lockFactKeys(transaction, { factIds: idsOf(erased, 'fact') });
  for (const type of memoryTypes) await transaction.$queryRaw(lockMemories(type, tenantId, idsOf(erased, type)));
}

function idsOf({ memories }: Erased, type: MemoryType): string[] {
  return memories.filter((memory) => memory.type === type).map(({ id }) => id);
}

/** A fact that took the place of an erased one takes that of the one before: the chain is read around the gap. */
async function bridgeChains({ consequence }: Mutation, erased: Erased): Promise<void> {
  const { transaction } = consequence;
  const bridges = await transaction.$queryRaw<{ id: string; before: string | null }[]>(selectBridges(erased));
  for (const { id, before } of bridges) {
    await changeMemory(consequence, { type: 'fact', id }, 'fact.bridged', { supersedesId: before });
    if (before === null) continue;
    await createLink(consequence, {
      source: { type: 'fact', id },
      target: { type: 'fact', id: before },
      relation: 'supersedes',
    });
  }
}

async function removeLinks({ consequence }: Mutation, erased: Erased): Promise<number> {
  const links = await consequence.transaction.memoryLink.findMany({ where: linksOf(erased) });
  for (const link of links) await removeLink(consequence, link);
  return links.length;
}

/** Of facts and rules: an episode leaves its tombstone, which what cites it still finds. */
function linksOf(erased: Erased): Prisma.MemoryLinkWhereInput {
  const ids = [...idsOf(erased, 'fact'), ...idsOf(erased, 'rule')];
  return {
    tenantId: erased.tenantId,
    OR: [
      { sourceType: { not: 'episode' }, sourceId: { in: ids } },
      { targetType: { not: 'episode' }, targetId: { in: ids } },
    ],
  };
}

/** Gives how many judgements of rules went with them. */
async function removeRows({ transaction, now }: Mutation, erased: Erased): Promise<number> {
  const { tenantId } = erased;
  const [facts, rules, episodes] = [idsOf(erased, 'fact'), idsOf(erased, 'rule'), idsOf(erased, 'episode')];
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

interface ErasureUnderWay {
  id: string;
  traces: Traces;
  counts: Omit<ErasureCounts, 'events' | 'receipts' | 'idempotencyKeys'>;
}

/** What else has said it; then the receipt of all this, and the events that name it. */
async function eraseTraces(mutation: Mutation, erased: Erased, { id, traces, counts }: ErasureUnderWay): Promise<void> {
  const { transaction, context, now } = mutation;
  const { eventIds } = traces;
  const receipts = await transaction.$executeRaw(eraseFromReceipts(erased, traces.receiptIds));
  const idempotencyKeys = await transaction.$executeRaw(eraseFromKeys(erased, traces.answers, id));
  const memories = erased.memories.map((memory) => ({ type: memory.type, id: memory.id }));
  const receipt = {
    id,
    at: now,
    actor: actorOf(context),
    requestId: context.requestContext.requestId,
    memories,
    counts: { ...counts, events: eventIds.length, receipts, idempotencyKeys } satisfies ErasureCounts,
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
