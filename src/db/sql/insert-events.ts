import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Inserts events in their order. Raw SQL, because an event keeps the row as it was, and Prisma refuses some of the JSON that a
 * table may hold.
 */
export function insertEvents(rows: readonly Prisma.MemoryEventCreateManyInput[]): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id,
      subrequest_id, segment_id, cause_event_id, reverts_event_id, payload)
    SELECT "tenantId", id, "eventType", "entityType", "entityId", "occurredAt", actor, "requestId", "subrequestId", "segmentId",
      "causeEventId", "revertsEventId", payload
    FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (
      "tenantId" text, id uuid, "eventType" text, "entityType" text, "entityId" text, "occurredAt" timestamptz, actor text,
      "requestId" text, "subrequestId" text, "segmentId" text, "causeEventId" uuid, "revertsEventId" uuid, payload jsonb
    )) WITH ORDINALITY
    ORDER BY ordinality`;
}
