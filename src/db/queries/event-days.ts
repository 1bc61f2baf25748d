import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';

/** Counts events by day, from the last but one counted day on: a transaction may end after the midnight of its events. */
function countedDays(tenantId: string, today: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, event_type, count(*)::int AS count FROM memory_events
    WHERE tenant_id = ${tenantId} AND occurred_at < ${today} AND occurred_at >= coalesce(
      (SELECT (max(day) - 1)::timestamp AT TIME ZONE 'UTC' FROM event_days WHERE tenant_id = ${tenantId}), '-infinity')
    GROUP BY 1, 2`;
}

/** Stores the counts of the days before today that are new or have changed. Returns the number of these days. */
export async function refreshEventDays(client: TenantClient, today: Date): Promise<number> {
  const { tenantId } = client;
  const [row] = await client.$queryRaw<[{ days: number }]>`
    WITH written AS (
      INSERT INTO event_days (tenant_id, day, event_type, count)
      SELECT ${tenantId}, day, event_type, count FROM (${countedDays(tenantId, today)}) AS counted
      ON CONFLICT (tenant_id, day, event_type) DO UPDATE SET count = excluded.count
        WHERE event_days.count <> excluded.count
      RETURNING day)
    SELECT count(DISTINCT day)::int AS days FROM written`;
  return row.days;
}

/** Counts the days that a refresh would change. */
export async function countStaleDays(client: TenantClient, today: Date): Promise<number> {
  const { tenantId } = client;
  const [row] = await client.$queryRaw<[{ days: number }]>`
    SELECT count(DISTINCT day)::int AS days FROM (${countedDays(tenantId, today)}) AS counted
    WHERE NOT EXISTS (SELECT FROM event_days AS known WHERE known.tenant_id = ${tenantId}
      AND (known.day, known.event_type, known.count) = (counted.day, counted.event_type, counted.count))`;
  return row.days;
}

export interface EventDayCount {
  /** As in 2026-03-01, in UTC. */
  day: string;
  eventType: string;
  count: number;
}

/** Lists counts by day and event type: the stored ones, and those of the events after them. */
export async function listEventDays(client: TenantClient, from: Date, until: Date): Promise<EventDayCount[]> {
  const { tenantId } = client;
  const firstDay = from.toISOString().slice(0, 10);
  const lastDay = until.toISOString().slice(0, 10);
  return client.$queryRaw`
    WITH counted AS (SELECT max(day) AS until FROM event_days WHERE tenant_id = ${tenantId})
    SELECT day::text, event_type AS "eventType", count FROM (
      SELECT day, event_type, count FROM event_days
      WHERE tenant_id = ${tenantId} AND day BETWEEN ${firstDay}::date AND ${lastDay}::date
      UNION ALL
      SELECT (occurred_at AT TIME ZONE 'UTC')::date, event_type, count(*)::int FROM memory_events
      WHERE tenant_id = ${tenantId} AND occurred_at >= greatest(${firstDay}::date::timestamp AT TIME ZONE 'UTC',
          (SELECT (until + 1)::timestamp AT TIME ZONE 'UTC' FROM counted))
        AND occurred_at < (${lastDay}::date + 1)::timestamp AT TIME ZONE 'UTC'
      GROUP BY 1, 2
    ) AS days ORDER BY day, event_type`;
}
