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

/** Runs whose lease has ended. */
export function selectLostRuns(tenantId: string, now: Date): Prisma.Sql {
  return Prisma.sql`SELECT id::text AS id FROM consolidation_runs WHERE ${isLost(tenantId, now)} ORDER BY id`;
}

/** One of them, unless somebody is writing for it or giving it back. */
export function lockLostRun(tenantId: string, id: string, now: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT id::text AS id FROM consolidation_runs WHERE ${isLost(tenantId, now)} AND id = ${id}::uuid
    FOR UPDATE SKIP LOCKED`;
}

function isLost(tenantId: string, now: Date): Prisma.Sql {
  return Prisma.sql`tenant_id = ${tenantId} AND status = 'running' AND lease_expires_at <= ${now}::timestamptz`;
}
