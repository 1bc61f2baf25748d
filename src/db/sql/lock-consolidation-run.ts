import { Prisma } from '../../generated/prisma/client.ts';

/** Whoever writes for a run holds this until the end of the transaction: no lease is given back meanwhile. */
export function lockRun(tenantId: string, id: string): Prisma.Sql {
  return Prisma.sql`
    SELECT 1 AS locked FROM consolidation_runs WHERE tenant_id = ${tenantId} AND id = ${id}::uuid FOR UPDATE`;
}

/** Whether there is a run whose lease has ended. */
export function areRunsLost(tenantId: string, now: Date): Prisma.Sql {
  return Prisma.sql`SELECT EXISTS (SELECT FROM consolidation_runs WHERE ${isLost(tenantId, now)})`;
}

/** Runs whose lease has ended. One that somebody is writing for, or giving back, is passed over. */
export function lockLostRuns(tenantId: string, now: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT id::text AS id FROM consolidation_runs WHERE ${isLost(tenantId, now)}
    ORDER BY id LIMIT 10
    FOR UPDATE SKIP LOCKED`;
}

function isLost(tenantId: string, now: Date): Prisma.Sql {
  return Prisma.sql`tenant_id = ${tenantId} AND status = 'running' AND lease_expires_at <= ${now}::timestamptz`;
}
