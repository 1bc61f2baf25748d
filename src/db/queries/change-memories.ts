import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { snapshotOf } from './snapshots.ts';

/** How sweeps find memories that are due for a change, and change many of them with their events in one statement. */

/** The actor, time and request that the events of a sweep share. */
export interface EventOrigin {
  at: Date;
  actor: string;
  requestId: string;
  subrequestId: string | null;
  segmentId: string | null;
}

/** The memories that one transaction of a sweep changes. */
export interface Batch {
  ids: readonly string[];
  /** Waits for rows that are locked; otherwise they are skipped. */
  wait: boolean;
  origin: EventOrigin;
}

export interface ChangedMemory {
  id: string;
  eventType: string;
}

/** What a sweep found in a page of rows. */
export interface DuePage {
  /** How many rows it looked at. */
  looked: number;
  /** The last of them: the next page begins after it. */
  last: string | null;
  /** The rows that are due for a change, and what is to become of each. */
  ids: string[];
  outcomes: string[];
}

/** Reads rows with an id and an outcome, which is null for rows that stay as they are. Only ids leave the database. */
export async function readDuePage(client: TenantClient, rows: Prisma.Sql): Promise<DuePage> {
  const [page] = await client.$queryRaw<[DuePage]>`
    WITH looked AS MATERIALIZED (${rows})
    SELECT count(*)::int AS looked, (SELECT id::text FROM looked ORDER BY id DESC LIMIT 1) AS last,
      coalesce(array_agg(id::text ORDER BY id) FILTER (WHERE outcome IS NOT NULL), '{}') AS ids,
      coalesce(array_agg(outcome::text ORDER BY id) FILTER (WHERE outcome IS NOT NULL), '{}') AS outcomes
    FROM looked`;
  return page;
}

/** Finds the next memories that meet a condition on `m`, by id. */
export async function findDue(
  client: TenantClient,
  { type, due, outcome }: { type: MemoryType; due: Prisma.Sql; outcome: string },
  after: string,
  limit: number,
): Promise<DuePage> {
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, ${outcome}::text AS outcome FROM ${Prisma.raw(memoryTables[type])} m
    WHERE m.tenant_id = ${client.tenantId} AND m.id > ${after}::uuid AND ${due}
    ORDER BY m.id LIMIT ${limit}`,
  );
}

/** Finds the next memory that a sweep would look at, so that it can skip one that cannot be read. */
export async function findNextId(client: TenantClient, type: MemoryType, after: string): Promise<string | null> {
  const isLive = Prisma.raw(type === 'episode' ? '' : `AND validity IN ('active', 'fading')`);
  const [row] = await client.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM ${Prisma.raw(memoryTables[type])}
    WHERE tenant_id = ${client.tenantId} AND id > ${after}::uuid ${isLive} ORDER BY id LIMIT 1`;
  return row?.id ?? null;
}

export interface MemoriesChange {
  type: MemoryType;
  /** The condition that a row `m` must still meet once it is locked. */
  due: Prisma.Sql;
  set: Prisma.Sql;
  eventType: Prisma.Sql;
  /** A JSON object that the event keeps besides the row before and after. */
  details?: Prisma.Sql;
}

/** Locks memories, changes those that are still due, and writes the event of each. */
export async function changeMemories(
  transaction: Transaction,
  { ids, wait, origin }: Batch,
  { type, due, set, eventType, details }: MemoriesChange,
): Promise<ChangedMemory[]> {
  const table = Prisma.raw(memoryTables[type]);
  const { tenantId } = transaction;
  return transaction.$queryRaw`
    WITH locked AS (
      SELECT m.id, ${snapshotOf('m')} AS before, ${eventType} AS event_type, ${details ?? Prisma.raw("'{}'::jsonb")} AS details
      FROM ${table} m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${due}
      ORDER BY m.id FOR UPDATE OF m ${skipLocked(wait)}
    ), changed AS (
      UPDATE ${table} m SET ${set}, version = m.version + 1
      FROM locked WHERE m.tenant_id = ${tenantId} AND m.id = locked.id
      RETURNING m.id, locked.event_type,
        locked.details || jsonb_build_object('before', locked.before, 'after', ${snapshotOf('m')}) AS payload
    )
    ${insertEventsFrom('changed', type, tenantId, origin)}`;
}

export function skipLocked(wait: boolean): Prisma.Sql {
  return Prisma.raw(wait ? '' : 'SKIP LOCKED');
}

/** Inserts an event for each row of a subquery, which has an id, an event type and a payload. Returns `ChangedMemory`. */
export function insertEventsFrom(rows: string, type: MemoryType, tenantId: string, origin: EventOrigin): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id,
      subrequest_id, segment_id, payload)
    SELECT ${tenantId}, memory_new_id(${origin.at}::timestamptz), event_type, ${type}, id::text,
      ${origin.at}::timestamptz, ${origin.actor}, ${origin.requestId}, ${origin.subrequestId}::text,
      ${origin.segmentId}::text, payload
    FROM ${Prisma.raw(rows)} ORDER BY id
    RETURNING entity_id AS id, event_type AS "eventType"`;
}
