import { readMemoryRows, selectMemoryRows } from '../db/sql/memory-rows.ts';
import { memoryTypes, type MemoryType } from '../db/tables.ts';
import type { Transaction } from '../db/database.ts';
import { lockFactKeys } from '../db/queries/facts.ts';
import type { StoredFact } from '../db/stored-fact.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Episode, Fact, Rule } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { isLive, lockLiveFact, type FactValidity } from './facts/facts.ts';
import { mutateOnce } from './idempotency.ts';
import type { MemoryReference } from './links/links.ts';
import { changeMemory, type Mutation } from './mutation.ts';
import { authorize, authorizeTarget } from './permissions.ts';
import { onlyButlerOf } from './reach.ts';
import { openRow } from './sealing.ts';
import { checkUuid } from './values.ts';

/** What the three types have in common: found, confirmed, forgotten and restored by type and id. */
export type Memory = { type: 'episode'; row: Episode } | { type: 'fact'; row: Fact } | { type: 'rule'; row: Rule };

/** Opened: a fact says what its writer gave. */
export type MemoryRow = Memory['row'];

/** As it is stored: a fact may be sealed, and `openRow` opens it. */
export type StoredRow = Episode | StoredFact | Rule;

/** By a column that only its table has. */
export function memoryTypeOf(row: MemoryRow | StoredRow): MemoryType {
  if ('predicate' in row) return 'fact';
  return 'maturity' in row ? 'rule' : 'episode';
}

export interface MemoryWrite extends MemoryReference {
  idempotencyKey?: string | null | undefined;
}

/** Null when it is not there: unknown, of another tenant, or an episode past its time. */
export async function findMemory(context: MemoryContext, { type, id }: MemoryReference): Promise<Memory | null> {
  const { tenantId } = context.principal;
  const client = context.db.client;
  const where = { tenantId_id: { tenantId, id: checkUuid('id', id) } };
  if (type === 'fact')
    return orNull(await client.fact.findUnique({ where }).then((fact) => fact && openRow(context, fact)));
  if (type === 'rule') return orNull(await client.rule.findUnique({ where }));
  const episode = await client.episode.findUnique({ where });
  return episode !== null && episode.expiresAt > context.now() ? { type: 'episode', row: episode } : null;
}

/** The same where only the id is known: no two memories share one, whatever their types. */
export async function findMemoryOfAnyType(context: MemoryContext, id: string): Promise<Memory | null> {
  const found = await Promise.all(memoryTypes.map((type) => findMemory(context, { type, id })));
  return found.find((memory) => memory !== null) ?? null;
}

function orNull(row: MemoryRow | null): Memory | null {
  return row === null ? null : asMemory(row);
}

export function referenceKey({ type, id }: MemoryReference): string {
  return `${type}:${id}`;
}

export function asMemory(row: MemoryRow): Memory {
  return { type: memoryTypeOf(row), row } as Memory;
}

/** Several at once, under the key of each, whatever their state. One round trip. */
export async function loadMemories(
  { db, principal: { tenantId } }: Pick<MemoryContext, 'db' | 'principal'>,
  references: readonly MemoryReference[],
): Promise<Map<string, StoredRow>> {
  if (references.length === 0) return new Map();
  const [answer] = await db.roundTrip([selectMemoryRows(tenantId, references)]);
  return memoriesByKey(answer);
}

/** What `selectMemoryRows` answered, under the key of each. */
export function memoriesByKey(answer: string | null | undefined): Map<string, StoredRow> {
  return new Map(readMemoryRows(answer).map(({ type, row }) => [referenceKey({ type, id: row.id }), row as StoredRow]));
}

export async function getMemory(context: MemoryContext, reference: MemoryReference): Promise<Memory> {
  const memory = await findMemory(context, reference);
  if (memory === null) throw notFound(reference);
  return memory;
}

/** Still true: decay starts anew, and what was fading is normal again at once. */
export async function confirmMemory(
  context: MemoryContext,
  { idempotencyKey, ...given }: MemoryWrite,
): Promise<Memory> {
  authorize(context, 'mutation confirmMemory');
  const reference = checkReference(given);
  const { type, id } = reference;
  if (type === 'episode') {
    throw new MemoryError(
      'INVALID_TRANSITION',
      'type: fact or rule; given "episode", which happened and needs no proof',
    );
  }
  await mutateOnce(context, { operation: 'confirm', idempotencyKey, input: reference }, async (mutation) => {
    const { validity } = await lockMemory(mutation, reference);
    if (!isLive(validity)) throw notLive(reference, validity);
    await writeConfirmation(mutation, { type, id });
    return id;
  });
  return getMemory(context, reference);
}

/** The same within a mutation that is under way, of a memory that is known to be live. */
export async function writeConfirmation(
  mutation: Mutation,
  reference: { type: 'fact' | 'rule'; id: string },
): Promise<void> {
  const { transaction, tenantId, now } = mutation;
  const { type, id } = reference;
  const change = {
    where: { tenantId_id: { tenantId, id } },
    data: { validity: 'active', lastConfirmedAt: now, version: { increment: 1 } },
    select: { id: true },
  };
  await changeMemory(mutation, reference, `${type}.confirmed`, () =>
    type === 'fact' ? transaction.fact.update(change) : transaction.rule.update(change),
  );
}

/** Out of every search, context, count and consolidation, and still there: `restoreMemory` brings it back. */
export async function forgetMemory(context: MemoryContext, { idempotencyKey, ...given }: MemoryWrite): Promise<Memory> {
  authorize(context, 'mutation forgetMemory');
  const reference = checkReference(given);
  const { type, id } = reference;
  await mutateOnce(context, { operation: 'forget', idempotencyKey, input: reference }, async (mutation) => {
    const { validity, isOwn } = await lockMemory(mutation, reference);
    authorizeTarget(context, 'mutation forgetMemory', { name: `${type} ${id}`, isOwn });
    if (validity === 'retracted') throw notLive(reference, validity);
    const eventType = type === 'fact' ? 'fact.retracted' : (`${type}.forgotten` as const);
    await changeMemory(mutation, reference, eventType, () =>
      setForgotten(mutation, reference, 'retracted', mutation.now),
    );
    return id;
  });
  return getMemory(context, reference);
}

/** A fact comes back as active, unless its key has a live one by now; that one would have to go first. */
export async function restoreMemory(
  context: MemoryContext,
  { idempotencyKey, ...given }: MemoryWrite,
): Promise<Memory> {
  authorize(context, 'mutation restoreMemory');
  const reference = checkReference(given);
  const { type, id } = reference;
  await mutateOnce(context, { operation: 'restore', idempotencyKey, input: reference }, async (mutation) => {
    if (type === 'fact') await lockFactKeys(mutation.transaction, { factIds: [id] });
    const { validity, isOwn } = await lockMemory(mutation, reference);
    authorizeTarget(context, 'mutation restoreMemory', { name: `${type} ${id}`, isOwn });
    if (validity !== 'retracted') {
      throw new MemoryError(
        'INVALID_TRANSITION',
        `${type} ${id} is ${validity}: only what was forgotten can be restored`,
      );
    }
    if (type === 'fact') await refuseSecondLiveFact(mutation, id);
    await changeMemory(mutation, reference, `${type}.restored`, () =>
      setForgotten(mutation, reference, 'active', null),
    );
    return id;
  });
  return getMemory(context, reference);
}

async function setForgotten(
  { transaction, tenantId }: Mutation,
  { type, id }: MemoryReference,
  validity: FactValidity,
  forgottenAt: Date | null,
): Promise<void> {
  const where = { tenantId_id: { tenantId, id } };
  const version = { increment: 1 };
  const select = { id: true };
  if (type === 'fact') await transaction.fact.update({ where, data: { validity, version }, select });
  else if (type === 'rule') await transaction.rule.update({ where, data: { validity, forgottenAt, version }, select });
  else await transaction.episode.update({ where, data: { forgottenAt, version }, select });
}

/** Locks the row. An episode has no validity: it is active until it is forgotten. */
async function lockMemory(mutation: Mutation, { type, id }: MemoryReference): Promise<LockedMemory> {
  const { context, transaction, tenantId, now } = mutation;
  const [row] = await lockRow(transaction, tenantId, type, id);
  if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) throw notFound({ type, id });
  const own = onlyButlerOf(context);
  return { validity: row.validity, isOwn: own === null || row.scope === own || row.source_butler === own };
}

interface LockedMemory {
  validity: string;
  /** Whether it is in the caller's own scope, or was stored in the caller's name. */
  isOwn: boolean;
}

interface LockedRow {
  validity: string;
  expires_at: Date | null;
  scope: string;
  source_butler: string | null;
}

function lockRow(transaction: Transaction, tenantId: string, type: MemoryType, id: string): Promise<LockedRow[]> {
  switch (type) {
    case 'fact':
      return transaction.$queryRaw`SELECT validity, NULL::timestamptz AS expires_at, scope, source_butler FROM facts
        WHERE tenant_id = ${tenantId} AND id = ${id}::uuid FOR UPDATE`;
    case 'rule':
      return transaction.$queryRaw`SELECT validity, NULL::timestamptz AS expires_at, scope, source_butler FROM rules
        WHERE tenant_id = ${tenantId} AND id = ${id}::uuid FOR UPDATE`;
    case 'episode':
      return transaction.$queryRaw`
        SELECT CASE WHEN forgotten_at IS NULL THEN 'active' ELSE 'retracted' END AS validity, expires_at,
          butler AS scope, butler AS source_butler FROM episodes
        WHERE tenant_id = ${tenantId} AND id = ${id}::uuid FOR UPDATE`;
  }
}

export async function refuseSecondLiveFact(mutation: Mutation, id: string): Promise<void> {
  const { transaction, tenantId } = mutation;
  const fact = await transaction.fact.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  const live = await lockLiveFact(transaction, fact);
  if (live === null) return;
  throw new MemoryError('CONFLICT', `fact ${id} cannot be restored: fact ${live.id} took its place`, {
    hint: `Forget fact ${live.id} first.`,
  });
}

function checkReference({ type, id }: MemoryReference): MemoryReference {
  return { type, id: checkUuid('id', id) };
}

function notFound({ type, id }: MemoryReference): MemoryError {
  return new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
}

function notLive({ type, id }: MemoryReference, validity: string): MemoryError {
  return new MemoryError('INVALID_TRANSITION', `${type} ${id} is ${validity}, and must be live for this`, {
    hint: validity === 'retracted' ? 'Restore it first.' : 'Store it anew if it is true again.',
  });
}
