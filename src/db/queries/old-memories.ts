import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { memoryTables } from '../tables.ts';
import {
  insertEventsFrom,
  readDuePage,
  skipLocked,
  type Batch,
  type ChangedMemory,
  type DuePage,
} from './change-memories.ts';

export interface OldMemoriesQuery {
  type: 'fact' | 'rule';
  /** Memories without an event since this moment. */
  until: Date;
}

/** Finds facts or rules that are no longer live, and have not been for as long as they are kept. */
export async function findOldMemories(
  client: TenantClient,
  query: OldMemoriesQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  const { tenantId } = client;
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, CASE WHEN ${isRemovable(tenantId, query)} THEN 'removed' END AS outcome FROM ${table(query)} m
    WHERE m.tenant_id = ${tenantId} AND m.id > ${after}::uuid AND ${isOver(query.type, 'm')}
    ORDER BY m.id LIMIT ${limit}`,
  );
}

/**
 * Deletes facts or rules, each with a tombstone and an event. Facts that supersede one another go together or not at all.
 * Checks them again once they are locked: a concurrent restore, or a fact that supersedes one of them, wins.
 */
export async function deleteOldMemories(
  transaction: Transaction,
  query: OldMemoriesQuery,
  { ids, wait, origin }: Batch,
): Promise<ChangedMemory[]> {
  const { tenantId } = transaction;
  const { type } = query;
  const members = type === 'rule' ? Prisma.sql`SELECT m.id` : Prisma.sql`SELECT c.id FROM (${chain(tenantId)}) c`;
  const due = await transaction.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT member.id::text FROM ${table(query)} m, LATERAL (${members}) member
    WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${isRemovable(tenantId, query)} ORDER BY 1`;
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM ${table(query)} WHERE tenant_id = ${tenantId} AND id = ANY (${due.map(({ id }) => id)}::uuid[])
    ORDER BY id FOR UPDATE ${skipLocked(wait)}`;
  const locked = rows.map(({ id }) => id);
  const isWhole =
    type === 'rule'
      ? Prisma.sql`true`
      : Prisma.sql`NOT EXISTS (SELECT FROM (${chain(tenantId)}) c WHERE c.id <> ALL (${locked}::uuid[]))`;
  const buried = await transaction.$queryRaw<ChangedMemory[]>`
    WITH old AS (
      SELECT m.id, m.scope, m.created_at, ${`${type}.removed`}::text AS event_type,
        jsonb_build_object('before', jsonb_build_object('tenant_id', m.tenant_id, 'id', m.id, 'scope', m.scope,
          'validity', m.validity, 'created_at', m.created_at, 'version', m.version), 'after', NULL) AS payload
      FROM ${table(query)} m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${locked}::uuid[]) AND ${isRemovable(tenantId, query)} AND ${isWhole}
    ), buried AS (
      INSERT INTO memory_tombstones (tenant_id, type, id, scope, reason, created_at, deleted_at)
      SELECT ${tenantId}, ${type}, id, scope, 'retention', created_at, ${origin.at}::timestamptz FROM old
      ON CONFLICT (tenant_id, type, id) DO NOTHING
    )
    ${insertEventsFrom('old', type, tenantId, origin)}`;
  const where = (column: string): Prisma.Sql =>
    Prisma.sql`WHERE tenant_id = ${tenantId} AND ${Prisma.raw(column)} = ANY (${buried.map(({ id }) => id)}::uuid[])`;
  if (type === 'rule') await transaction.$executeRaw`DELETE FROM rule_applications ${where('rule_id')}`;
  await transaction.$executeRaw`DELETE FROM ${table(query)} ${where('id')}`;
  return buried;
}

function table({ type }: OldMemoriesQuery): Prisma.Sql {
  return Prisma.raw(memoryTables[type]);
}

function isRemovable(tenantId: string, query: OldMemoriesQuery): Prisma.Sql {
  const own = isOld(tenantId, query, 'm');
  if (query.type === 'rule') return own;
  return Prisma.sql`(${own} AND NOT EXISTS (
    SELECT FROM (${chain(tenantId)}) c WHERE NOT ${isOld(tenantId, query, 'c')}))`;
}

/** Selects fact `m` and all facts that it supersedes or is superseded by, step by step in both directions. */
function chain(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    WITH RECURSIVE chain AS (
      SELECT m.id, m.supersedes_id, m.validity
      UNION
      SELECT next.id, next.supersedes_id, next.validity FROM chain, LATERAL (
        SELECT f.id, f.supersedes_id, f.validity FROM facts f WHERE f.tenant_id = ${tenantId} AND f.id = chain.supersedes_id
        UNION ALL
        SELECT f.id, f.supersedes_id, f.validity FROM facts f WHERE f.tenant_id = ${tenantId} AND f.supersedes_id = chain.id
      ) next
    ) SELECT * FROM chain`;
}

/** Any event, such as a restore, begins the retention anew. */
function isOld(tenantId: string, { type, until }: OldMemoriesQuery, alias: string): Prisma.Sql {
  return Prisma.sql`(${isOver(type, alias)} AND NOT EXISTS (
    SELECT FROM memory_events e WHERE e.tenant_id = ${tenantId} AND e.entity_type = ${type}
      AND e.entity_id = ${Prisma.raw(alias)}.id::text AND e.occurred_at > ${until}::timestamptz))`;
}

function isOver(type: 'fact' | 'rule', alias: string): Prisma.Sql {
  const isOut = `${alias}.validity NOT IN ('active', 'fading')`;
  return Prisma.raw(type === 'fact' ? `(${isOut})` : `(${isOut} OR ${alias}.disabled_at IS NOT NULL)`);
}
