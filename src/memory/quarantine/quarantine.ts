import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../db/database.ts';
import { lockQuarantinedItem } from '../../db/queries/quarantine.ts';
import { lockRuleTexts } from '../../db/queries/rules.ts';
import type { MemoryEvent, Prisma, QuarantinedItem } from '../../generated/prisma/client.ts';
import { MemoryError } from '../../shared/errors.ts';
import { nameActor, type MemoryContext } from '../context.ts';
import { writeConfirmation } from '../confirm.ts';
import { embedOne } from '../embed.ts';
import { decideSealing, embeddedText, normaliseFact } from '../facts/fact-values.ts';
import { writeFact } from '../facts/facts.ts';
import { noteName } from '../facts/note-key.ts';
import { changedSince } from '../history/event-graph.ts';
import { readPayload } from '../history/snapshots.ts';
import { mutateOnce } from '../idempotency.ts';
import { mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { findKnownRule, normaliseRule, repeatsAntiPattern, writeRule } from '../rules/rules.ts';
import { checkUuid } from '../values.ts';

export type { QuarantinedItem };

export type QuarantineStatus = 'waiting' | 'approved' | 'refused';

export type QuarantineKind = 'fact' | 'rule';

/** What an engine found in text that neither the user nor the butler said. */
export interface ForeignItem {
  episodeId: string;
  kind: QuarantineKind;
  /** The sentence as it stands in the episode, redacted when that was stored. */
  content: string;
}

/** Holds back what was found in foreign text. The same sentence of one episode is held once, also when it is read again. */
export async function quarantine(mutation: Mutation, butler: string, items: readonly ForeignItem[]): Promise<void> {
  const { transaction, tenantId, now: createdAt } = mutation;
  if (items.length === 0) return;
  const episodeId = { in: items.map((item) => item.episodeId) };
  const held = new Set(
    (await transaction.quarantinedItem.findMany({ where: { tenantId, episodeId } })).map(digestItem),
  );
  for (const item of items) {
    if (held.has(digestItem(item))) continue;
    held.add(digestItem(item));
    const id = uuidv7();
    // Without the row as an answer: a butler whose run holds something back may not read it.
    await transaction.quarantinedItem.createMany({ data: [{ ...item, tenantId, id, butler, createdAt }] });
    await mutation.consequence.record({
      eventType: 'quarantined_item.held',
      entityType: 'quarantined_item',
      entityId: id,
      after: toSnapshot({ ...item, tenantId, id, butler, status: 'waiting', memoryId: null, decidedBy: null }),
    });
  }
}

function digestItem({ episodeId, content }: Pick<ForeignItem, 'episodeId' | 'content'>): string {
  return `${episodeId} ${content}`;
}

/** The row as events keep it: without its text, which goes with the episode. */
function toSnapshot(row: Omit<QuarantinedItem, 'content' | 'createdAt' | 'decidedAt'>): Prisma.InputJsonObject {
  return JSON.parse(
    JSON.stringify({
      tenant_id: row.tenantId,
      id: row.id,
      episode_id: row.episodeId,
      butler: row.butler,
      kind: row.kind,
      status: row.status,
      memory_id: row.memoryId,
      decided_by: row.decidedBy,
    }),
  ) as Prisma.InputJsonObject;
}

/** Lists what is held back, the latest first. */
export async function listQuarantine(
  context: MemoryContext,
  { status }: { status?: readonly QuarantineStatus[] | null | undefined },
  { offset, limit }: { offset: number; limit: number },
): Promise<{ items: QuarantinedItem[]; total: number }> {
  authorize(context, 'query quarantine');
  const { client, tenantId } = context.db;
  const where = { tenantId, status: { in: [...(status ?? ['waiting'])] } };
  const [items, total] = await Promise.all([
    client.quarantinedItem.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      skip: offset,
      take: limit,
    }),
    client.quarantinedItem.count({ where }),
  ]);
  return { items, total };
}

export interface DecideQuarantinedInput {
  id: string;
  idempotencyKey?: string | null | undefined;
}

/** Stores what was held back, a rule of the butler or a note, and decides the item, in one write. */
export async function approveQuarantined(
  context: MemoryContext,
  input: DecideQuarantinedInput,
): Promise<Written<QuarantinedItem>> {
  authorize(context, 'mutation approveQuarantined');
  const id = checkUuid('id', input.id);
  const { idempotencyKey } = input;
  const written = await mutateOnce(
    context,
    { operation: 'approveQuarantined', idempotencyKey, input: { id } },
    async (mutation, store: Store) => {
      const before = await lockWaiting(mutation, id);
      return decide(mutation, before, { status: 'approved', memoryId: await store(mutation.consequence) });
    },
    {
      prepare: async () => {
        const item = await getWaiting(context, id, context.db.client);
        return item.kind === 'rule' ? prepareRule(context, item) : prepareFact(context, item);
      },
    },
  );
  return mapWritten(written, () => getDecided(context, id));
}

export async function refuseQuarantined(
  context: MemoryContext,
  input: DecideQuarantinedInput,
): Promise<Written<QuarantinedItem>> {
  authorize(context, 'mutation refuseQuarantined');
  const id = checkUuid('id', input.id);
  const { idempotencyKey } = input;
  const request = { operation: 'refuseQuarantined', idempotencyKey, input: { id } };
  const written = await mutateOnce(context, request, async (mutation) =>
    decide(mutation, await lockWaiting(mutation, id), { status: 'refused', memoryId: null }),
  );
  return mapWritten(written, () => getDecided(context, id));
}

async function getDecided({ db: { client, tenantId } }: MemoryContext, id: string): Promise<QuarantinedItem> {
  return client.quarantinedItem.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
}

/** Writes the memory within a mutation, and returns its id. */
type Store = (mutation: Mutation) => Promise<string>;

async function prepareRule(context: MemoryContext, { content, butler, episodeId }: QuarantinedItem): Promise<Store> {
  const values = normaliseRule(context, { content, scope: butler, sourceButler: butler, sourceEpisodeId: episodeId });
  const embedding = await embedOne(context, values.content);
  return async (mutation) => {
    await lockRuleTexts(mutation.transaction, [values]);
    const { warning, live } = await findKnownRule(mutation, values);
    if (warning !== undefined) throw repeatsAntiPattern(values.content, warning);
    if (live === undefined) await writeRule(mutation, values, embedding);
    else await writeConfirmation(mutation, { type: 'rule', id: live.id });
    return live?.id ?? values.id;
  };
}

async function prepareFact(context: MemoryContext, { content, butler, episodeId }: QuarantinedItem): Promise<Store> {
  const note = { subject: noteName, predicate: noteName, content, sourceButler: butler, sourceEpisodeId: episodeId };
  const values = await decideSealing(context, normaliseFact(context, note));
  const embedding = await embedOne(context, embeddedText(values));
  return async (mutation) => (await writeFact(mutation, note, values, embedding)).id;
}

async function decide(
  mutation: Mutation,
  before: QuarantinedItem,
  decision: { status: QuarantineStatus; memoryId: string | null },
): Promise<string> {
  const { transaction, tenantId, now: decidedAt, context } = mutation;
  const { id } = before;
  const data = { ...decision, decidedBy: nameActor(context), decidedAt };
  const after = await transaction.quarantinedItem.update({ where: { tenantId_id: { tenantId, id } }, data });
  await mutation.record({
    eventType: decision.status === 'approved' ? 'quarantined_item.approved' : 'quarantined_item.refused',
    entityType: 'quarantined_item',
    entityId: id,
    before: toSnapshot(before),
    after: toSnapshot(after),
  });
  return id;
}

/**
 * Reverts a decision or the undo of one, and records that. What a run held back stays when the run is undone, because it
 * was never learned.
 */
export async function revertQuarantined(mutation: Mutation, event: MemoryEvent): Promise<void> {
  const { transaction, tenantId } = mutation;
  const id = event.entityId;
  if (event.eventType === 'quarantined_item.held') return;
  const found = readPayload(event);
  await lockQuarantinedItem(transaction, id);
  const before = await transaction.quarantinedItem.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (before === null) throw new MemoryError('NOT_FOUND', `quarantined item ${id} is not there`);
  if (before.status !== found.after?.['status']) throw await changedSince(mutation, event, 'status');
  const { status, memory_id: memoryId, decided_by: decidedBy } = found.before as Partial<Record<string, string>>;
  const decidedAt = status === 'waiting' ? null : mutation.now;
  const data = { status, memoryId, decidedBy, decidedAt } as Partial<QuarantinedItem>;
  const after = await transaction.quarantinedItem.update({ where: { tenantId_id: { tenantId, id } }, data });
  await mutation.record({
    eventType: 'quarantined_item.undone',
    entityType: 'quarantined_item',
    entityId: id,
    before: toSnapshot(before),
    after: toSnapshot(after),
    revertsEventId: event.id,
  });
}

/** Locks the row first, so that of two decisions the second sees the first. */
async function lockWaiting({ context, transaction }: Mutation, id: string): Promise<QuarantinedItem> {
  await lockQuarantinedItem(transaction, id);
  return getWaiting(context, id, transaction);
}

async function getWaiting(
  { principal: { tenantId } }: MemoryContext,
  id: string,
  { quarantinedItem }: Pick<Transaction, 'quarantinedItem'>,
): Promise<QuarantinedItem> {
  const item = await quarantinedItem.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (item === null) throw new MemoryError('NOT_FOUND', `quarantined item ${id} is not there`);
  if (item.status !== 'waiting') throw decidedAlready(id, `as ${item.status}`);
  return item;
}

function decidedAlready(id: string, how: string): MemoryError {
  return new MemoryError('INVALID_TRANSITION', `quarantined item ${id} is decided already, ${how}`);
}
