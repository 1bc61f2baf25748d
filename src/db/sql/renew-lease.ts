import { Prisma } from '../../generated/prisma/client.ts';

/** Changes nothing once the lease has ended: it may be somebody else's turn already. */
export function renewLeaseOf(tenantId: string, id: string, { now, until }: { now: Date; until: Date }): Prisma.Sql {
  return Prisma.sql`
    UPDATE consolidation_runs SET lease_expires_at = ${until}::timestamptz
    WHERE tenant_id = ${tenantId} AND id = ${id}::uuid AND status = 'running' AND lease_expires_at > ${now}::timestamptz`;
}
