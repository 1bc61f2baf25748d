import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../db/database.ts';
import { insertAccess } from '../db/queries/accesses.ts';
import type { AccessRecord } from '../generated/prisma/client.ts';
import { nameActor, type MemoryContext, type Principal } from './context.ts';
import { recordEvent } from './events.ts';
import { authorize } from './permissions.ts';

export type { AccessRecord };

export const accessKinds = ['read', 'write', 'feed'] as const;
export type AccessKind = (typeof accessKinds)[number];

/** One request: what it asked for, without what it said. */
export interface Access {
  kind: AccessKind;
  /** The fields that it began with. */
  operations: string[];
  /** Those that it named. */
  ids: string[];
  /** SHA-256 of all that was asked: the same question can be known again, and is not told. */
  digest: string;
}

/**
 * Whether it is written down who asked. An admin has no scope of its own, so whatever it reads is another's; what it
 * writes has its event. Of a visitor everything is.
 */
export function isRecorded({ role, visit }: Principal, kind: AccessKind): boolean {
  return visit !== undefined || (role === 'admin' && kind !== 'write');
}

/** Before anything is read. If it cannot be written down, nothing is read: `db` is not the one of a caller who may only read. */
export async function recordAccess(db: Database, context: MemoryContext, access: Access): Promise<void> {
  const { tenantId, visit } = context.principal;
  const record = describeAccess(context, access);
  if (visit === undefined) return insertAccess(db.forTenant(tenantId), record);
  const { home } = visit;
  // At home first: who fails to get in has tried.
  await insertAccess(db.forTenant(home), { ...record, tenantId: home, enteredTenant: tenantId });
  const { kind, operations, digest } = access;
  const after = { home_tenant: home, kind, operations, digest, access_record_id: record.id };
  await db.forTenant(tenantId).transaction(async (transaction) => {
    await transaction.accessRecord.createMany({ data: [{ ...record, homeTenant: home }] });
    const event = { eventType: 'tenant.entered', entityType: 'tenant', entityId: tenantId, after } as const;
    await recordEvent(context, transaction, event);
  });
}

/** A read by the command line, which works as an admin. The operation is that of GraphQL which tells the same. */
export async function recordReadByHand(
  db: Database,
  context: MemoryContext,
  { operation, asked, ids }: { operation: string; asked: object; ids: string[] },
): Promise<void> {
  // Of a tenant that is not there nothing is read, and a record would make it one that sweeps visit.
  if (!(await db.hasTenant(context.principal.tenantId))) return;
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  await recordAccess(db, context, { kind: 'read', operations: [operation], ids, digest });
}

function describeAccess(context: MemoryContext, { kind, operations, ids, digest }: Access): AccessRecord {
  const { principal, requestContext, now } = context;
  const by = principal.credential === undefined || principal.visit !== undefined ? '' : ` by ${principal.credential}`;
  return {
    tenantId: principal.tenantId,
    id: uuidv7(),
    accessedAt: now(),
    kind,
    actor: `${nameActor(context)}${by}`,
    requestId: requestContext.requestId,
    operations,
    ids,
    digest,
    homeTenant: null,
    enteredTenant: null,
  };
}

export async function listAccesses(
  context: MemoryContext,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ records: AccessRecord[]; total: number }> {
  authorize(context, 'query accesses');
  const { db } = context;
  const where = { tenantId: db.tenantId };
  const { accessRecord } = db.client;
  const newestFirst = [{ accessedAt: 'desc' as const }, { id: 'desc' as const }];
  const [records, total] = await Promise.all([
    accessRecord.findMany({ where, orderBy: newestFirst, skip: offset, take: limit }),
    accessRecord.count({ where }),
  ]);
  return { records, total };
}
