import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { snapshotOf } from '../queries/snapshots.ts';

type EventRow = Prisma.MemoryEventCreateManyInput;

/**
 * The events of rows that were just inserted, of one type and by one caller. What an event keeps of its row is taken from
 * the table, and so need not be read before. Answers with the number of events, which is that of the rows found.
 */
export function insertCreations(type: MemoryType, rows: readonly [EventRow, ...EventRow[]]): Prisma.Sql {
  const [{ tenantId, eventType, occurredAt, actor, requestId, subrequestId, segmentId, causeEventId }] = rows;
  const payloads = rows.map(({ payload }) => JSON.stringify(payload));
  return Prisma.sql`
    INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id,
      subrequest_id, segment_id, cause_event_id, payload)
    SELECT ${tenantId}, given.id, ${eventType}, ${type}, m.id::text, ${occurredAt}::timestamptz, ${actor}, ${requestId},
      ${subrequestId}::text, ${segmentId}::text, ${causeEventId}::uuid,
      given.payload::jsonb || jsonb_build_object('after', ${snapshotOf('m')})
    FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ entityId }) => entityId)}::uuid[], ${payloads}::text[])
      WITH ORDINALITY AS given(id, entity_id, payload, place)
    JOIN ${Prisma.raw(memoryTables[type])} m ON m.tenant_id = ${tenantId} AND m.id = given.entity_id
    ORDER BY given.place`;
}
