import { Prisma } from '../../generated/prisma/client.ts';
import { insertEventsOf, type EventOrigin } from './event-rows.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { snapshotOf } from '../queries/snapshots.ts';

export interface MemoriesChange {
  type: MemoryType;
  ids: readonly string[];
  origin: EventOrigin;
  /** Whether to wait for rows that others hold; else they are passed over. */
  wait: boolean;
  /** What a row `m` must still meet, now that it is locked. */
  due: Prisma.Sql;
  /** What becomes of it. */
  set: Prisma.Sql;
  /** The name of its event. */
  eventType: Prisma.Sql;
  /** What the event keeps besides the row before and after: a JSON object. */
  details?: Prisma.Sql;
}

export interface ChangedMemory {
  id: string;
  eventType: string;
}

/**
 * Changes many memories and writes the event of each, in one statement. The rows are locked first, and those that
 * somebody changed since they were found are looked at as they are now.
 */
export function changeMemories({ type, ids, origin, wait, due, set, eventType, details }: MemoriesChange): Prisma.Sql {
  const table = Prisma.raw(memoryTables[type]);
  return Prisma.sql`
    WITH locked AS (
      SELECT m.id, ${snapshotOf('m')} AS before, ${eventType} AS event_type, ${details ?? Prisma.raw("'{}'::jsonb")} AS details
      FROM ${table} m
      WHERE m.tenant_id = ${origin.tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${due}
      ORDER BY m.id FOR UPDATE OF m ${Prisma.raw(wait ? '' : 'SKIP LOCKED')}
    ), changed AS (
      UPDATE ${table} m SET ${set}, version = m.version + 1
      FROM locked WHERE m.tenant_id = ${origin.tenantId} AND m.id = locked.id
      RETURNING m.id, locked.event_type,
        locked.details || jsonb_build_object('before', locked.before, 'after', ${snapshotOf('m')}) AS payload
    )
    ${insertEventsOf(type, origin, 'changed')}`;
}
