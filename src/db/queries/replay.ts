import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { snapshotOf } from './snapshots.ts';

/**
 * Compares what the events of an entity add up to with what there is. Each query returns the entities for which the two
 * differ.
 */
export interface ReplayedRow {
  id: string;
  /** The state as it is in the tables; null when the row is missing. */
  stored: Prisma.JsonObject | null;
  /** The state that the last event left; null when there is none. */
  replayed: Prisma.JsonObject | null;
}

export async function compareMemories(client: TenantClient, type: MemoryType, at?: Date): Promise<ReplayedRow[]> {
  return compareWithEvents(
    client,
    type,
    at,
    Prisma.sql`
    SELECT m.id::text AS id, ${snapshotOf('m')} AS snapshot FROM ${Prisma.raw(memoryTables[type])} m
    WHERE m.tenant_id = ${client.tenantId}`,
  );
}

/** A link has no id of its own: events name it by its ends. */
export async function compareLinks(client: TenantClient, at?: Date): Promise<ReplayedRow[]> {
  return compareWithEvents(
    client,
    'link',
    at,
    Prisma.sql`
    SELECT source_type || ':' || source_id || ' ' || relation || ' ' || target_type || ':' || target_id AS id,
      jsonb_build_object('tenantId', tenant_id, 'sourceType', source_type, 'sourceId', source_id, 'targetType', target_type,
        'targetId', target_id, 'relation', relation, 'spans', spans,
        'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS snapshot
    FROM memory_links WHERE tenant_id = ${client.tenantId}`,
  );
}

/**
 * Compares at a moment, by default now. Replayed is what the last event up to the moment left. Stored is what was there
 * then: what the next event after the moment found or, where none followed, the row.
 */
async function compareWithEvents(
  client: TenantClient,
  entityType: string,
  at: Date | undefined,
  rows: Prisma.Sql,
): Promise<ReplayedRow[]> {
  const upTo = at === undefined ? Prisma.empty : Prisma.sql`AND occurred_at <= ${at}`;
  return client.$queryRaw`
    WITH events AS (
      SELECT entity_id AS id, sequence, occurred_at, nullif(payload->'before', 'null') AS before,
        nullif(payload->'after', 'null') AS after
      FROM memory_events WHERE tenant_id = ${client.tenantId} AND entity_type = ${entityType}
    ), last AS (
      SELECT DISTINCT ON (id) id, sequence, after AS snapshot FROM events WHERE true ${upTo} ORDER BY id, sequence DESC
    ), next AS (
      SELECT DISTINCT ON (e.id) e.id, e.before AS snapshot FROM events e LEFT JOIN last ON last.id = e.id
      WHERE last.sequence IS NULL OR e.sequence > last.sequence ORDER BY e.id, e.sequence
    ), compared AS (
      SELECT id, last.snapshot AS replayed,
        CASE WHEN next.id IS NULL THEN stored.snapshot ELSE next.snapshot END AS stored
      FROM (${rows}) stored FULL JOIN last USING (id) FULL JOIN next USING (id)
    )
    SELECT id, stored, replayed FROM compared
    -- Only the columns of both: an event that deleted a memory kept few, and the table may have lost one since.
    WHERE ${knownColumns} IS DISTINCT FROM
      (SELECT jsonb_object_agg(key, value) FROM jsonb_each(replayed) WHERE stored IS NULL OR stored ? key)
    ORDER BY id`;
}

/** The stored columns that the event knew: a column may have been added to the table later. */
const knownColumns = Prisma.sql`
  (SELECT jsonb_object_agg(key, value) FROM jsonb_each(stored) WHERE replayed IS NULL OR replayed ? key)`;

/**
 * Compares applications of rules. An application has the id of the event of its mark, which says the rest of it. A retired
 * one names the event that retired it, which must be an event of the same rule.
 */
export async function compareApplications(client: TenantClient): Promise<ReplayedRow[]> {
  const { tenantId } = client;
  return client.$queryRaw`
    WITH marks AS (
      SELECT e.id, jsonb_build_object('rule_id', e.entity_id, 'outcome', replace(e.event_type, 'rule.marked_', ''),
          'applied_at', e.occurred_at, 'request_id', e.request_id) || coalesce(e.payload->'application', '{}') AS snapshot
      FROM memory_events e JOIN rules r ON r.tenant_id = e.tenant_id AND r.id::text = e.entity_id
      WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'rule'
        AND e.event_type IN ('rule.marked_helpful', 'rule.marked_harmful')
    ), applications AS (
      SELECT a.id, to_jsonb(a) - '{tenant_id,id}'::text[] AS snapshot,
        CASE WHEN EXISTS (
          SELECT FROM memory_events e WHERE e.tenant_id = a.tenant_id AND e.id = a.retired_by_event_id
            AND e.entity_type = 'rule' AND e.entity_id = a.rule_id::text)
          THEN a.retired_by_event_id END AS retired_by
      FROM rule_applications a WHERE a.tenant_id = ${tenantId}
    ), compared AS (
      SELECT id::text, applications.snapshot AS stored,
        marks.snapshot || jsonb_build_object('retired_by_event_id', applications.retired_by) AS replayed
      FROM applications FULL JOIN marks USING (id)
    )
    SELECT id, stored, replayed FROM compared WHERE ${knownColumns} IS DISTINCT FROM replayed ORDER BY id`;
}

/** Compares the counters of rules with the applications that count. */
export async function compareCounters(client: TenantClient): Promise<ReplayedRow[]> {
  return client.$queryRaw`
    WITH counted AS (
      SELECT r.id::text, jsonb_build_object('applied_count', r.applied_count, 'success_count', r.success_count,
          'harmful_count', r.harmful_count) AS stored,
        jsonb_build_object('applied_count', count(a.id), 'success_count', count(a.id) FILTER (WHERE a.outcome = 'helpful'),
          'harmful_count', count(a.id) FILTER (WHERE a.outcome = 'harmful')) AS replayed
      FROM rules r LEFT JOIN rule_applications a
        ON a.tenant_id = r.tenant_id AND a.rule_id = r.id AND a.retired_by_event_id IS NULL
      WHERE r.tenant_id = ${client.tenantId} GROUP BY r.tenant_id, r.id
    )
    SELECT id, stored, replayed FROM counted WHERE stored <> replayed ORDER BY id`;
}

/**
 * Compares consolidation runs with what the last event of each left. Leases are renewed, and runs purged, without events.
 * Runs without events, or with erased ones, are left out.
 */
export async function compareRuns(client: TenantClient): Promise<ReplayedRow[]> {
  return compareWithLastEvent(client, {
    entityType: 'consolidation_run',
    table: 'consolidation_runs',
    notReplayed: 'lease_expires_at',
    condition: `last.entity_id IS NOT NULL AND NOT last.payload ? 'erased'`,
  });
}

/** Compares reviews with what the last event of each left. A review goes with its facts, without an event. */
export async function compareReviews(client: TenantClient): Promise<ReplayedRow[]> {
  return compareWithLastEvent(client, { entityType: 'review', table: 'reviews' });
}

/** Compares quarantined items with what the last event of each left, which has no text. An item goes with its episode. */
export async function compareQuarantine(client: TenantClient): Promise<ReplayedRow[]> {
  return compareWithLastEvent(client, {
    entityType: 'quarantined_item',
    table: 'quarantined_items',
    notReplayed: 'content',
  });
}

/** Compares the rows of a table that meet the condition; `last` in it is the last event of each. */
async function compareWithLastEvent(
  client: TenantClient,
  given: { entityType: string; table: string; notReplayed?: string; condition?: string },
): Promise<ReplayedRow[]> {
  const { entityType, table, notReplayed = '', condition = 'true' } = given;
  const { tenantId } = client;
  return client.$queryRaw`
    WITH last AS (
      SELECT DISTINCT ON (entity_id) entity_id, payload FROM memory_events
      WHERE tenant_id = ${tenantId} AND entity_type = ${entityType} ORDER BY entity_id, sequence DESC
    ), compared AS (
      SELECT r.id::text, to_jsonb(r) - ${notReplayed}::text AS stored,
        nullif(last.payload->'after', 'null') - ${notReplayed}::text AS replayed
      FROM ${Prisma.raw(table)} r LEFT JOIN last ON last.entity_id = r.id::text
      WHERE r.tenant_id = ${tenantId} AND ${Prisma.raw(condition)}
    )
    SELECT id, stored, replayed FROM compared WHERE ${knownColumns} IS DISTINCT FROM replayed ORDER BY id`;
}
