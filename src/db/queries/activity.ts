import { Prisma, type MemoryEvent } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';

/** A position in the order of events: after the events of a transaction up to a sequence number. */
export interface EventPosition {
  transactionId: bigint;
  sequence: bigint;
}

/** An event with the scope of what it is about. */
export type EventRow = MemoryEvent & { scope: string | null };

export interface EventConditions {
  eventTypes?: readonly string[];
  entityTypes?: readonly string[];
  entityId?: string;
  actor?: string;
  requestId?: string;
  since?: Date;
  until?: Date;
  scope?: string;
  /** Later than this in the order of events. */
  after?: EventPosition;
  /** Earlier than this. */
  before?: EventPosition;
}

/**
 * The oldest open transaction: all events before it are visible, or never will be. Within one statement it belongs to the
 * same snapshot as the rows.
 */
const horizon = Prisma.sql`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

/** The scope of a fact, rule or review, the butler of an episode or run, and for a link that of its source. */
const scope = Prisma.sql`
  CASE e.entity_type
    WHEN 'fact' THEN coalesce(e.payload #>> '{after,scope}', e.payload #>> '{before,scope}')
    WHEN 'rule' THEN coalesce(e.payload #>> '{after,scope}', e.payload #>> '{before,scope}')
    WHEN 'review' THEN coalesce(e.payload #>> '{after,scope}', e.payload #>> '{before,scope}')
    WHEN 'episode' THEN coalesce(e.payload #>> '{after,butler}', e.payload #>> '{before,butler}')
    WHEN 'consolidation_run' THEN coalesce(e.payload #>> '{after,butler}', e.payload #>> '{before,butler}')
    WHEN 'link' THEN (
      SELECT coalesce(
        (SELECT f.scope FROM facts f WHERE f.tenant_id = e.tenant_id AND f.id = source.id),
        (SELECT r.scope FROM rules r WHERE r.tenant_id = e.tenant_id AND r.id = source.id),
        (SELECT s.butler FROM episodes s WHERE s.tenant_id = e.tenant_id AND s.id = source.id))
      FROM (SELECT substring(e.entity_id FROM '^[a-z]+:([0-9a-f-]{36}) ')::uuid AS id) source)
  END`;

const columns = Prisma.sql`
  e.tenant_id AS "tenantId", e.id::text AS id, e.sequence, e.transaction_id AS "transactionId",
  e.event_type AS "eventType", e.entity_type AS "entityType", e.entity_id AS "entityId", e.occurred_at AS "occurredAt",
  e.actor, e.request_id AS "requestId", e.subrequest_id AS "subrequestId", e.segment_id AS "segmentId",
  e.cause_event_id::text AS "causeEventId", e.reverts_event_id::text AS "revertsEventId", e.payload, ${scope} AS scope`;

function matches(conditions: EventConditions): Prisma.Sql {
  const { eventTypes, entityTypes, entityId, actor, requestId, since, until } = conditions;
  const { after, before } = conditions;
  const parts = [
    eventTypes && Prisma.sql`e.event_type = ANY (${eventTypes}::text[])`,
    entityTypes && Prisma.sql`e.entity_type = ANY (${entityTypes}::text[])`,
    entityId !== undefined && Prisma.sql`e.entity_id = ${entityId}`,
    actor !== undefined && Prisma.sql`e.actor = ${actor}`,
    requestId !== undefined && Prisma.sql`e.request_id = ${requestId}`,
    since && Prisma.sql`e.occurred_at >= ${since}`,
    until && Prisma.sql`e.occurred_at < ${until}`,
    after && Prisma.sql`(e.transaction_id, e.sequence) > (${after.transactionId}, ${after.sequence})`,
    before && Prisma.sql`(e.transaction_id, e.sequence) < (${before.transactionId}, ${before.sequence})`,
    conditions.scope !== undefined && Prisma.sql`${scope} = ${conditions.scope}`,
  ].filter((part) => part instanceof Prisma.Sql);
  return parts.length === 0 ? Prisma.sql`true` : Prisma.join(parts, ' AND ');
}

/** Lists committed events, in the order of events or against it. */
export async function listEvents(
  client: TenantClient,
  conditions: EventConditions,
  { limit, newestFirst }: { limit: number; newestFirst: boolean },
): Promise<EventRow[]> {
  const direction = Prisma.raw(newestFirst ? 'DESC' : 'ASC');
  return client.$queryRaw`
    SELECT ${columns} FROM memory_events e
    WHERE e.tenant_id = ${client.tenantId} AND ${matches(conditions)}
    ORDER BY e.transaction_id ${direction}, e.sequence ${direction} LIMIT ${limit}`;
}

export async function countEvents(client: TenantClient, conditions: EventConditions): Promise<number> {
  const [row] = await client.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM memory_events e WHERE e.tenant_id = ${client.tenantId} AND ${matches(conditions)}`;
  return row.count;
}

/** How far a scan came. */
interface ScanHead {
  horizon: bigint;
  /** Whether there are events that wait for an older transaction to end. */
  heldBack: boolean;
  scannedCount: number;
  lastTransactionId: bigint | null;
  lastSequence: bigint | null;
}

export interface EventScan {
  head: ScanHead;
  events: EventRow[];
}

export interface Scan {
  after: EventPosition;
  /** Events that one statement looks at, whether or not they match. */
  scanLimit: number;
  limit: number;
}

/** Reads on from a position, but never past the oldest open transaction: its events would be missed when it commits. */
export async function scanEvents(client: TenantClient, conditions: EventConditions, scan: Scan): Promise<EventScan> {
  const { tenantId } = client;
  const rows = await client.$queryRaw<[ScanHead & EventRow, ...(ScanHead & EventRow)[]]>`
    WITH scanned AS MATERIALIZED (
      SELECT * FROM memory_events e
      WHERE e.tenant_id = ${tenantId} AND ${matches({ after: scan.after })} AND e.transaction_id < ${horizon}
      ORDER BY e.transaction_id, e.sequence LIMIT ${scan.scanLimit}
    ), matched AS (
      SELECT ${columns} FROM scanned e WHERE ${matches(conditions)}
      ORDER BY e.transaction_id, e.sequence LIMIT ${scan.limit}
    )
    SELECT ${horizon} AS horizon,
      EXISTS (SELECT FROM memory_events WHERE tenant_id = ${tenantId} AND transaction_id >= ${horizon}) AS "heldBack",
      (SELECT count(*)::int FROM scanned) AS "scannedCount",
      last.transaction_id AS "lastTransactionId", last.sequence AS "lastSequence", matched.*
    FROM (SELECT) one
    LEFT JOIN (SELECT transaction_id, sequence FROM scanned ORDER BY transaction_id DESC, sequence DESC LIMIT 1) last ON true
    LEFT JOIN matched ON true
    ORDER BY matched."transactionId", matched.sequence`;
  // The head is in every row. Where no event matches, one row has nothing but the head.
  const events = rows.filter(({ id }: { id: string | null }) => id !== null).map(withoutHead);
  return { head: rows[0], events };
}

function withoutHead(row: ScanHead & EventRow): EventRow {
  const { horizon: _, heldBack: _1, scannedCount: _2, lastTransactionId: _3, lastSequence: _4, ...event } = row;
  return event;
}

export interface Horizon {
  /** All events up to here are visible. */
  position: EventPosition;
  /** Committed events beyond it, which wait for an older transaction to end. */
  heldBackIds: string[];
}

export async function findHorizon(client: TenantClient): Promise<Horizon> {
  const [row] = await client.$queryRaw<[{ horizon: bigint; heldBackIds: string[] }]>`
    SELECT ${horizon} AS horizon, ARRAY(
      SELECT id::text FROM memory_events WHERE tenant_id = ${client.tenantId} AND transaction_id >= ${horizon}
    ) AS "heldBackIds"`;
  return { position: { transactionId: row.horizon, sequence: 0n }, heldBackIds: row.heldBackIds };
}

/** Finds the first transaction with an event at that time or later: transactions may commit in another order than time. */
export async function findFirstTransaction(client: TenantClient, since: Date): Promise<bigint | null> {
  const [row] = await client.$queryRaw<[{ transactionId: bigint | null }]>`
    SELECT min(transaction_id) AS "transactionId" FROM memory_events
    WHERE tenant_id = ${client.tenantId} AND occurred_at >= ${since}`;
  return row.transactionId;
}
