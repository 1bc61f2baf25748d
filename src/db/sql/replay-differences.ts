import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, snapshotOf, type MemoryType } from './memory-snapshot.ts';

/** The memories of a type whose row is not what their last event says. */
export function replayDifferences(tenantId: string, type: MemoryType): Prisma.Sql {
  return Prisma.sql`
    SELECT coalesce(stored.id, told.id) AS id, stored.snapshot AS stored, told.snapshot AS told
    FROM (
      SELECT m.id::text AS id, ${snapshotOf('m')} AS snapshot FROM ${Prisma.raw(memoryTables[type])} m
      WHERE m.tenant_id = ${tenantId}
    ) stored
    FULL JOIN (${lastStates(tenantId, type)}) told ON told.id = stored.id
    -- A column that is younger than the event is not known to it.
    WHERE (SELECT jsonb_object_agg(key, value) FROM jsonb_each(stored.snapshot) WHERE told.snapshot IS NULL OR told.snapshot ? key)
      IS DISTINCT FROM told.snapshot
    ORDER BY 1`;
}

/** The same for links, whose id is written from their ends. */
export function replayDifferencesOfLinks(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT coalesce(stored.id, told.id) AS id, stored.snapshot AS stored, told.snapshot AS told
    FROM (
      SELECT source_type || ':' || source_id || ' ' || relation || ' ' || target_type || ':' || target_id AS id,
        jsonb_build_object('tenantId', tenant_id, 'sourceType', source_type, 'sourceId', source_id, 'targetType', target_type,
          'targetId', target_id, 'relation', relation) AS snapshot
      FROM memory_links WHERE tenant_id = ${tenantId}
    ) stored
    FULL JOIN (SELECT id, snapshot - 'createdAt' AS snapshot FROM (${lastStates(tenantId, 'link')}) s) told ON told.id = stored.id
    WHERE stored.snapshot IS DISTINCT FROM told.snapshot
    ORDER BY 1`;
}

function lastStates(tenantId: string, entityType: string): Prisma.Sql {
  return Prisma.sql`
    SELECT DISTINCT ON (entity_id) entity_id AS id, nullif(payload->'after', 'null') AS snapshot FROM memory_events
    WHERE tenant_id = ${tenantId} AND entity_type = ${entityType} ORDER BY entity_id, sequence DESC`;
}
