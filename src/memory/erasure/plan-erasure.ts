import { createHash } from 'node:crypto';
import type { TenantClient } from '../../db/database.ts';
import {
  countKeysToErase,
  findContent,
  listContents,
  listDerived,
  listEventsToErase,
  listFactsAbout,
  listIds,
  listMentions,
  listReceiptsToErase,
  listRunsToErase,
  listSources,
  type Erased,
  type ReceiptFound,
} from '../../db/queries/erasure.ts';
import type { MemoryType } from '../../db/tables.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import type { MemoryReference } from '../links/links.ts';
import { authorize } from '../permissions.ts';
import { openReadable } from '../../encryption/sealing.ts';
import { hasWords, normaliseName } from '../text.ts';
import { checkUuid } from '../values.ts';

export interface EraseMemoryInput extends MemoryReference {
  /** The id again, as a confirmation: erasure is permanent. */
  confirm: string;
  /** Whether to erase the facts and rules that were learned from an episode too. */
  includeDerived?: boolean | null | undefined;
}

export interface SubjectInput {
  subject: string;
  /** Types of memories to erase too when they mention the subject. */
  includeMentions?: readonly MemoryType[] | null | undefined;
}

/** What an erasure would erase, and what it would leave that may say the same. */
export interface ErasurePlan {
  memories: MemoryReference[];
  /** Memories that stay, although they were learned from one of them, are the source of one, or mention the subject. */
  related: MemoryReference[];
  /** How many of each kind would be erased or blanked, by the names in the receipt of the erasure. */
  counts: ErasureCounts;
  /** A digest of these memories. It changes when one is stored or erased. */
  confirmation: string;
  /** How many more there are, for a further erasure. */
  remaining: number;
}

export type ErasureCounts = Record<
  'memories' | 'events' | 'links' | 'applications' | 'receipts' | 'idempotencyKeys' | 'runs',
  number
>;

/** Of one erasure, which is one transaction. */
const mostMemories = 1000;

export async function planMemoryErasure(
  context: MemoryContext,
  input: Omit<EraseMemoryInput, 'confirm'>,
): Promise<ErasurePlan> {
  authorize(context, 'query erasurePlan');
  const memory = { type: input.type, id: checkUuid('id', input.id) };
  await refuseUnknown(context, memory);
  const derived = memory.type === 'episode' ? await listDerived(context.db.client, [memory.id]) : [];
  const isWanted = input.includeDerived === true;
  return buildPlan(context, isWanted ? [memory, ...derived] : [memory], isWanted ? [] : derived, []);
}

export async function planSubjectErasure(context: MemoryContext, input: SubjectInput): Promise<ErasurePlan> {
  authorize(context, 'query erasurePlan');
  const subject = normaliseName('subject', input.subject);
  const about = await listFactsAbout(context.db.client, subject);
  const mentions = await listMentions(context.db.client, subject);
  const isWanted = ({ type }: MemoryReference): boolean => input.includeMentions?.includes(type) === true;
  const wanted = [...about, ...mentions.filter(isWanted)];
  const left = mentions.filter((mention) => !isWanted(mention));
  return buildPlan(context, wanted, left, [subject]);
}

async function buildPlan(
  context: MemoryContext,
  found: MemoryReference[],
  left: MemoryReference[],
  texts: readonly string[],
): Promise<ErasurePlan> {
  const memories = found.slice(0, mostMemories);
  const names = memories.map(toKey).toSorted();
  const confirmation = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 16);
  const sources = await listSources(context.db.client, memories);
  const known = new Set([...found, ...left].map(toKey));
  return {
    memories,
    related: [...left, ...sources.filter((source) => !known.has(toKey(source)))],
    counts: await countTraces(context, memories, texts),
    confirmation,
    remaining: found.length - memories.length,
  };
}

function toKey({ type, id }: MemoryReference): string {
  return `${type}:${id}`;
}

/** Counts by the queries of the erasure itself, without locks. */
async function countTraces(context: MemoryContext, erased: Erased, texts: readonly string[]): Promise<ErasureCounts> {
  const { client } = context.db;
  const { tenantId } = client;
  const ruleIds = listIds(erased, 'rule');
  const runIds = await listRunsToErase(client, erased);
  const traces = await findTraces(context, client, erased, { texts, runIds });
  return {
    memories: erased.length,
    events: traces.eventIds.length,
    links: await client.memoryLink.count({ where: whereLinks(tenantId, erased) }),
    applications: await client.ruleApplication.count({ where: { tenantId, ruleId: { in: ruleIds } } }),
    receipts: traces.receiptIds.length,
    idempotencyKeys: await countKeysToErase(client, traces.answers),
    runs: runIds.length,
  };
}

export interface Traces {
  eventIds: string[];
  receiptIds: string[];
  /** The ids with which a write of theirs may have been answered. */
  answers: string[];
}

/** Finds the events and receipts that have their content. */
export async function findTraces(
  context: MemoryContext,
  client: TenantClient,
  erased: Erased,
  { texts, runIds }: { texts: readonly string[]; runIds: readonly string[] },
): Promise<Traces> {
  const eventIds = await listEventsToErase(client, erased, runIds);
  const contents = [...texts, ...(await readContents(context, client, erased))];
  const receipts = await listReceiptsToErase(client, erased, contents);
  const repeats = (receipt: ReceiptFound): boolean =>
    receipt.isNamed || receipt.said.some((text) => hasWords(receipt.query, text));
  return {
    eventIds,
    receiptIds: receipts.filter(repeats).map(({ id }) => id),
    answers: [...erased.map(({ id }) => id), ...eventIds],
  };
}

/** Reads contents in plain text. Those that cannot be opened any more are left out: they must not prevent the erasure. */
async function readContents(context: MemoryContext, client: TenantClient, erased: Erased): Promise<string[]> {
  const rows = await listContents(client, erased);
  const readable = await openReadable(context, rows, client);
  return [...new Set(readable.map(({ content }) => content))].filter((content) => content.trim() !== '');
}

/** Selects links of facts and rules. Those of an episode stay, because it leaves a tombstone. */
export function whereLinks(tenantId: string, erased: Erased): Prisma.MemoryLinkWhereInput {
  const ids = [...listIds(erased, 'fact'), ...listIds(erased, 'rule')];
  return {
    tenantId,
    OR: [
      { sourceType: { not: 'episode' }, sourceId: { in: ids } },
      { targetType: { not: 'episode' }, targetId: { in: ids } },
    ],
  };
}

async function refuseUnknown(context: MemoryContext, memory: MemoryReference): Promise<void> {
  const { isKnown, erasure } = await findContent(context.db.client, memory);
  if (isKnown) return;
  const { type, id } = memory;
  if (erasure === null) throw new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
  throw new MemoryError('INVALID_TRANSITION', `${type} ${id} is erased already, by erasure ${erasure}`);
}
