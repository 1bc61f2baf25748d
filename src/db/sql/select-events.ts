import { Prisma, type MemoryEvent } from '../../generated/prisma/client.ts';

/** A place in the order of events: after this transaction's events up to this sequence. */
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
 * The oldest transaction that is still open: all events before it are there to be seen, as far as they will ever be.
 * Within one statement it belongs to the same snapshot as the rows.
 */
const horizon = Prisma.sql`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

/** Of a fact or rule its scope, of an episode or consolidation run its butler, of a link what its source has. */
const scope = Prisma.sql`
  CASE e.entity_type
    WHEN 'fact' THEN coalesce(e.payload #>> '{after,scope}', e.payload #>> '{before,scope}')
    WHEN 'rule' THEN coalesce(e.payload #>> '{after,scope}', e.payload #>> '{before,scope}')
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

/** Committed ones, in the order of events or against it. */
export function selectEvents(
  tenantId: string,
  conditions: EventConditions,
  { limit, newestFirst }: { limit: number; newestFirst: boolean },
): Prisma.Sql {
  const direction = Prisma.raw(newestFirst ? 'DESC' : 'ASC');
  return Prisma.sql`
    SELECT ${columns} FROM memory_events e
    WHERE e.tenant_id = ${tenantId} AND ${matches(conditions)}
    ORDER BY e.transaction_id ${direction}, e.sequence ${direction} LIMIT ${limit}`;
}

export function countEvents(tenantId: string, conditions: EventConditions): Prisma.Sql {
  return Prisma.sql`
    SELECT count(*)::int AS count FROM memory_events e WHERE e.tenant_id = ${tenantId} AND ${matches(conditions)}`;
}

export interface ScannedRow extends EventPosition {
  horizon: bigint;
  /** Whether there are events that wait for an older transaction to end. */
  heldBack: boolean;
  scannedCount: number;
  lastTransactionId: bigint | null;
  lastSequence: bigint | null;
  /** Null in the one row that comes when no event matches. */
  id: string | null;
}

export interface Scan {
  after: EventPosition;
  /** Events looked at, whether or not they match: what one statement may cost. */
  scanLimit: number;
  limit: number;
}

/**
 * Reads on from a position, and never past the oldest open transaction: one that commits later would be passed over.
 * How far it looked is in every row.
 */
export function scanEvents(tenantId: string, conditions: EventConditions, scan: Scan): Prisma.Sql {
  return Prisma.sql`
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
}

/** Where the events end that can be seen whole, and those that are committed beyond it. */
export function selectHorizon(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT ${horizon} AS horizon, ARRAY(
      SELECT id::text FROM memory_events WHERE tenant_id = ${tenantId} AND transaction_id >= ${horizon}
    ) AS "heldBackIds"`;
}

/** The first transaction with an event at that time or later. Clocks and transactions need not agree on an order. */
export function selectFirstTransactionSince(tenantId: string, since: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT min(transaction_id) AS "transactionId" FROM memory_events
    WHERE tenant_id = ${tenantId} AND occurred_at >= ${since}`;
}
