import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from '../tables.ts';

/** Who did it, when and on which request, for statements that write the events of many changes themselves. */
export interface EventOrigin {
  tenantId: string;
  at: Date;
  actor: string;
  requestId: string;
  subrequestId: string | null;
  segmentId: string | null;
}

/** One event for each row of `changes`, which has an id, an event type and a payload; gives the ids and event types. */
export function insertEventsOf(type: MemoryType, origin: EventOrigin, changes: string): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id,
      subrequest_id, segment_id, payload)
    SELECT ${origin.tenantId}, memory_new_id(${origin.at}::timestamptz), event_type, ${type}, id::text,
      ${origin.at}::timestamptz, ${origin.actor}, ${origin.requestId}, ${origin.subrequestId}::text,
      ${origin.segmentId}::text, payload
    FROM ${Prisma.raw(changes)} ORDER BY id
    RETURNING entity_id AS id, event_type AS "eventType"`;
}
