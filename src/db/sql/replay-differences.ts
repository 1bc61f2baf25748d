import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, snapshotOf, type MemoryType } from './memory-snapshot.ts';

/**
 * Where what events add up to is not what there is: told forwards, by the last event up to a moment, and backwards, by what
 * the next event found there, or by the row where none came after. Without a moment, now.
 */
export function replayDifferences(tenantId: string, type: MemoryType, at?: Date): Prisma.Sql {
  const rows = Prisma.sql`
    SELECT m.id::text AS id, ${snapshotOf('m')} AS snapshot FROM ${Prisma.raw(memoryTables[type])} m
    WHERE m.tenant_id = ${tenantId}`;
  return differences(tenantId, type, rows, at);
}

/** The same for links, whose id is written from their ends. */
export function replayDifferencesOfLinks(tenantId: string, at?: Date): Prisma.Sql {
  const rows = Prisma.sql`
    SELECT source_type || ':' || source_id || ' ' || relation || ' ' || target_type || ':' || target_id AS id,
      jsonb_build_object('tenantId', tenant_id, 'sourceType', source_type, 'sourceId', source_id, 'targetType', target_type,
        'targetId', target_id, 'relation', relation) AS snapshot
    FROM memory_links WHERE tenant_id = ${tenantId}`;
  return differences(tenantId, 'link', rows, at);
}

function differences(tenantId: string, entityType: string, rows: Prisma.Sql, at: Date | undefined): Prisma.Sql {
  const upTo = at === undefined ? Prisma.empty : Prisma.sql`AND occurred_at <= ${at}`;
  return Prisma.sql`
    WITH events AS (
      SELECT entity_id AS id, sequence, occurred_at, nullif(payload->'before', 'null') - 'createdAt' AS before,
        nullif(payload->'after', 'null') - 'createdAt' AS after
      FROM memory_events WHERE tenant_id = ${tenantId} AND entity_type = ${entityType}
    ), told AS (
      SELECT DISTINCT ON (id) id, sequence, after AS snapshot FROM events WHERE true ${upTo} ORDER BY id, sequence DESC
    ), later AS (
      SELECT DISTINCT ON (e.id) e.id, e.before AS snapshot FROM events e LEFT JOIN told ON told.id = e.id
      WHERE told.sequence IS NULL OR e.sequence > told.sequence ORDER BY e.id, e.sequence
    ), compared AS (
      SELECT id, told.snapshot AS told, later.id IS NOT NULL AS is_later,
        CASE WHEN later.id IS NULL THEN stored.snapshot ELSE later.snapshot END AS stored
      FROM (${rows}) stored FULL JOIN told USING (id) FULL JOIN later USING (id)
    )
    SELECT id, stored, told FROM compared
    -- A column that is younger than the event is not known to it; one that buried a memory kept little of it.
    WHERE (SELECT jsonb_object_agg(key, value) FROM jsonb_each(stored) WHERE told IS NULL OR told ? key)
      IS DISTINCT FROM
      (SELECT jsonb_object_agg(key, value) FROM jsonb_each(told) WHERE NOT is_later OR stored IS NULL OR stored ? key)
    ORDER BY id`;
}
