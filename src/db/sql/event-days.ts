import { Prisma } from '../../generated/prisma/client.ts';

/** Days that are over, from the last but one that was counted: a transaction may have ended after its midnight. */
function countedDays(tenantId: string, today: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, event_type, count(*)::int AS count FROM memory_events
    WHERE tenant_id = ${tenantId} AND occurred_at < ${today} AND occurred_at >= coalesce(
      (SELECT (max(day) - 1)::timestamp AT TIME ZONE 'UTC' FROM event_days WHERE tenant_id = ${tenantId}), '-infinity')
    GROUP BY 1, 2`;
}

/** Counts the days anew where the count has changed. */
export function refreshEventDays(tenantId: string, today: Date): Prisma.Sql {
  return Prisma.sql`
    WITH written AS (
      INSERT INTO event_days (tenant_id, day, event_type, count)
      SELECT ${tenantId}, day, event_type, count FROM (${countedDays(tenantId, today)}) AS counted
      ON CONFLICT (tenant_id, day, event_type) DO UPDATE SET count = excluded.count
        WHERE event_days.count <> excluded.count
      RETURNING day)
    SELECT count(DISTINCT day)::int AS days FROM written`;
}

/** The days that a refresh would change. */
export function staleEventDays(tenantId: string, today: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT count(DISTINCT day)::int AS days FROM (${countedDays(tenantId, today)}) AS counted
    WHERE NOT EXISTS (SELECT FROM event_days AS known WHERE known.tenant_id = ${tenantId}
      AND (known.day, known.event_type, known.count) = (counted.day, counted.event_type, counted.count))`;
}

/** From the days that were counted, and from the events themselves after those. */
export function selectEventDays(tenantId: string, from: Date, until: Date): Prisma.Sql {
  const firstDay = from.toISOString().slice(0, 10);
  const lastDay = until.toISOString().slice(0, 10);
  return Prisma.sql`
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
