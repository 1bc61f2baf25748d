import { Prisma } from '../../generated/prisma/client.ts';

/** A run as events keep it: its row. */
export function selectRunSnapshot(tenantId: string, id: string): Prisma.Sql {
  return Prisma.sql`
    SELECT to_jsonb(r) AS snapshot FROM consolidation_runs r WHERE r.tenant_id = ${tenantId} AND r.id = ${id}::uuid`;
}
