import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { snapshotOf } from '../queries/snapshots.ts';

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
        'targetId', target_id, 'relation', relation,
        'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS snapshot
    FROM memory_links WHERE tenant_id = ${tenantId}`;
  return differences(tenantId, 'link', rows, at);
}

/**
 * Judgements of rules: each has the id of the event of its mark, which says the rest of it. One that counts no more names the
 * event that took it back. As they are now: a judgement is not changed, but for that.
 */
export function replayDifferencesOfApplications(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    WITH told AS (
      SELECT e.id, jsonb_build_object('rule_id', e.entity_id, 'outcome', replace(e.event_type, 'rule.marked_', ''),
          'applied_at', e.occurred_at, 'request_id', e.request_id) || coalesce(e.payload->'application', '{}') AS snapshot
      FROM memory_events e JOIN rules r ON r.tenant_id = e.tenant_id AND r.id::text = e.entity_id
      WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'rule'
        AND e.event_type IN ('rule.marked_helpful', 'rule.marked_harmful')
    ), stored AS (
      SELECT a.id, to_jsonb(a) - '{tenant_id,id}'::text[] AS snapshot,
        CASE WHEN EXISTS (
          SELECT FROM memory_events e WHERE e.tenant_id = a.tenant_id AND e.id = a.retired_by_event_id
            AND e.entity_type = 'rule' AND e.entity_id = a.rule_id::text)
          THEN a.retired_by_event_id END AS retired_by
      FROM rule_applications a WHERE a.tenant_id = ${tenantId}
    ), compared AS (
      SELECT id::text, stored.snapshot AS stored,
        told.snapshot || jsonb_build_object('retired_by_event_id', stored.retired_by) AS told
      FROM stored FULL JOIN told USING (id)
    )
    SELECT id, stored, told FROM compared WHERE ${isUnlike} ORDER BY id`;
}

/** Rules whose counters are not what their judgements add up to: one may have been taken out of the count, or put back. */
export function differencesOfCounters(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    WITH counted AS (
      SELECT r.id::text, jsonb_build_object('applied_count', r.applied_count, 'success_count', r.success_count,
          'harmful_count', r.harmful_count) AS stored,
        jsonb_build_object('applied_count', count(a.id), 'success_count', count(a.id) FILTER (WHERE a.outcome = 'helpful'),
          'harmful_count', count(a.id) FILTER (WHERE a.outcome = 'harmful')) AS told
      FROM rules r LEFT JOIN rule_applications a
        ON a.tenant_id = r.tenant_id AND a.rule_id = r.id AND a.retired_by_event_id IS NULL
      WHERE r.tenant_id = ${tenantId} GROUP BY r.tenant_id, r.id
    )
    SELECT id, stored, told FROM counted WHERE stored <> told ORDER BY id`;
}

/**
 * Consolidation runs as the last event of each left them. A lease is renewed without an event, and a run is purged without
 * one; a run without events, or whose events were erased, is not reported.
 */
export function replayDifferencesOfRuns(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    WITH last AS (
      SELECT DISTINCT ON (entity_id) entity_id, payload FROM memory_events
      WHERE tenant_id = ${tenantId} AND entity_type = 'consolidation_run' ORDER BY entity_id, sequence DESC
    ), compared AS (
      SELECT r.id::text, to_jsonb(r) - 'lease_expires_at' AS stored,
        nullif(last.payload->'after', 'null') - 'lease_expires_at' AS told
      FROM consolidation_runs r JOIN last ON last.entity_id = r.id::text
      WHERE r.tenant_id = ${tenantId} AND NOT last.payload ? 'erased'
    )
    SELECT id, stored, told FROM compared WHERE ${isUnlike} ORDER BY id`;
}

/** A column that is younger than the event is not known to it. */
const isUnlike = Prisma.sql`
  (SELECT jsonb_object_agg(key, value) FROM jsonb_each(stored) WHERE told IS NULL OR told ? key) IS DISTINCT FROM told`;

function differences(tenantId: string, entityType: string, rows: Prisma.Sql, at: Date | undefined): Prisma.Sql {
  const upTo = at === undefined ? Prisma.empty : Prisma.sql`AND occurred_at <= ${at}`;
  return Prisma.sql`
    WITH events AS (
      SELECT entity_id AS id, sequence, occurred_at, nullif(payload->'before', 'null') AS before,
        nullif(payload->'after', 'null') AS after
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
