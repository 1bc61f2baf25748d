import { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../database.ts';
import { announceEvents } from '../events/event-signal.ts';

export type EventRow = Prisma.MemoryEventUncheckedCreateInput;

/** Inserts events in their order. Raw SQL: events keep rows as they were, and Prisma refuses some JSON that rows hold. */
export async function insertEvents(transaction: Transaction, rows: readonly EventRow[]): Promise<void> {
  announceEvents(transaction);
  await transaction.$executeRaw(insertEventsFrom(rows));
}

/**
 * The statement that inserts events. With `changes`, a table of the statement with an `id` and a `payload`, each event
 * gets what its row there adds to its payload, and is left out if there is none.
 */
export function insertEventsFrom(rows: readonly EventRow[], changes?: string): Prisma.Sql {
  const source = Prisma.raw(changes === undefined ? '' : `JOIN ${changes} c ON c.id::text = e."entityId"`);
  const payload = Prisma.raw(changes === undefined ? 'e.payload' : 'e.payload || c.payload');
  return Prisma.sql`
    INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id,
      subrequest_id, segment_id, cause_event_id, reverts_event_id, payload)
    SELECT e."tenantId", e.id, e."eventType", e."entityType", e."entityId", e."occurredAt", e.actor, e."requestId",
      e."subrequestId", e."segmentId", e."causeEventId", e."revertsEventId", ${payload}
    FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (
      "tenantId" text, id uuid, "eventType" text, "entityType" text, "entityId" text, "occurredAt" timestamptz, actor text,
      "requestId" text, "subrequestId" text, "segmentId" text, "causeEventId" uuid, "revertsEventId" uuid, payload jsonb
    )) WITH ORDINALITY AS e ${source}
    ORDER BY e.ordinality`;
}
