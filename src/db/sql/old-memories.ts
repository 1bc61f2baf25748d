import { Prisma } from '../../generated/prisma/client.ts';
import { insertEventsOf, type EventOrigin } from './event-rows.ts';
import { memoryTables } from '../tables.ts';
import { pageOfDue } from './page-of-due.ts';

export interface OldMemoriesQuery {
  type: 'fact' | 'rule';
  tenantId: string;
  /** Those that nothing was done to since this moment. */
  until: Date;
}

/** The next facts or rules by id that do not count any more, and have not for as long as they are kept. */
export function findOldMemories(query: OldMemoriesQuery, after: string, limit: number): Prisma.Sql {
  return pageOfDue(Prisma.sql`
    SELECT m.id, CASE WHEN ${isRemovable(query)} THEN 'removed' END AS outcome FROM ${tableOf(query)} m
    WHERE m.tenant_id = ${query.tenantId} AND m.id > ${after}::uuid AND ${isOver(query.type, 'm')}
    ORDER BY m.id LIMIT ${limit}`);
}

/** All that has to go with these, if they may go: facts that supersede one another go together. */
export function selectWithChains(query: OldMemoriesQuery, ids: readonly string[]): Prisma.Sql {
  const { type, tenantId } = query;
  const members = type === 'rule' ? Prisma.sql`SELECT m.id` : Prisma.sql`SELECT c.id FROM (${chainOf(tenantId)}) c`;
  return Prisma.sql`
    SELECT DISTINCT member.id::text FROM ${tableOf(query)} m, LATERAL (${members}) member
    WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${isRemovable(query)} ORDER BY 1`;
}

export function lockMemories({ type, tenantId }: OldMemoriesQuery, ids: readonly string[], wait: boolean): Prisma.Sql {
  return Prisma.sql`
    SELECT id::text FROM ${tableOf({ type })} WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::uuid[])
    ORDER BY id FOR UPDATE ${Prisma.raw(wait ? '' : 'SKIP LOCKED')}`;
}

/** Tombstones and events of what is to be deleted next: of those that are locked, and still may go with all their chain. */
export function buryMemories(query: OldMemoriesQuery, origin: EventOrigin, locked: readonly string[]): Prisma.Sql {
  const { type, tenantId } = query;
  const isWhole =
    type === 'rule'
      ? Prisma.sql`true`
      : Prisma.sql`NOT EXISTS (SELECT FROM (${chainOf(tenantId)}) c WHERE c.id <> ALL (${locked}::uuid[]))`;
  return Prisma.sql`
    WITH old AS (
      SELECT m.id, m.scope, m.created_at, ${`${type}.removed`}::text AS event_type,
        jsonb_build_object('before', jsonb_build_object('tenant_id', m.tenant_id, 'id', m.id, 'scope', m.scope,
          'validity', m.validity, 'created_at', m.created_at, 'version', m.version), 'after', NULL) AS payload
      FROM ${tableOf(query)} m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${locked}::uuid[]) AND ${isRemovable(query)} AND ${isWhole}
    ), buried AS (
      INSERT INTO memory_tombstones (tenant_id, type, id, scope, reason, created_at, deleted_at)
      SELECT ${tenantId}, ${type}, id, scope, 'retention', created_at, ${origin.at}::timestamptz FROM old
      ON CONFLICT (tenant_id, type, id) DO NOTHING
    )
    ${insertEventsOf(type, origin, 'old')}`;
}

export function deleteMemories({ type, tenantId }: OldMemoriesQuery, ids: readonly string[]): Prisma.Sql[] {
  const where = (column: string): Prisma.Sql =>
    Prisma.sql`WHERE tenant_id = ${tenantId} AND ${Prisma.raw(column)} = ANY (${ids}::uuid[])`;
  const rows = Prisma.sql`DELETE FROM ${tableOf({ type })} ${where('id')}`;
  return type === 'rule' ? [Prisma.sql`DELETE FROM rule_applications ${where('rule_id')}`, rows] : [rows];
}

function tableOf({ type }: Pick<OldMemoriesQuery, 'type'>): Prisma.Sql {
  return Prisma.raw(memoryTables[type]);
}

function isRemovable({ type, tenantId, until }: OldMemoriesQuery): Prisma.Sql {
  const own = isOld({ type, tenantId, until }, 'm');
  if (type === 'rule') return own;
  return Prisma.sql`(${own} AND NOT EXISTS (
    SELECT FROM (${chainOf(tenantId)}) c WHERE NOT ${isOld({ type, tenantId, until }, 'c')}))`;
}

/** All facts that fact `m` supersedes or is superseded by, step by step in both directions, with itself. */
function chainOf(tenantId: string): Prisma.Sql {
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

/** Whoever does something to it, be it to restore it and forget it again, begins its time anew. */
function isOld({ type, tenantId, until }: OldMemoriesQuery, alias: string): Prisma.Sql {
  return Prisma.sql`(${isOver(type, alias)} AND NOT EXISTS (
    SELECT FROM memory_events e WHERE e.tenant_id = ${tenantId} AND e.entity_type = ${type}
      AND e.entity_id = ${Prisma.raw(alias)}.id::text AND e.occurred_at > ${until}::timestamptz))`;
}

function isOver(type: 'fact' | 'rule', alias: string): Prisma.Sql {
  const isOut = `${alias}.validity NOT IN ('active', 'fading')`;
  return Prisma.raw(
    type === 'fact'
      ? `(${isOut})`
      : `(${isOut} OR ${alias}.disabled_at IS NOT NULL OR ${alias}.forgotten_at IS NOT NULL)`,
  );
}
