import { Prisma } from '../../generated/prisma/client.ts';
import { snapshotOf } from '../queries/snapshots.ts';

/** Of several episodes at once, with what each was before and is after; those that do not meet the condition stay. */
export function changeEpisodes(
  { tenantId, ids }: { tenantId: string; ids: readonly string[] },
  { assignments, condition }: { assignments: Prisma.Sql; condition: Prisma.Sql },
): Prisma.Sql {
  return Prisma.sql`
    WITH old AS (
      SELECT m.id, ${snapshotOf('m')} AS snapshot FROM episodes m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${condition}
      ORDER BY m.id FOR UPDATE
    )
    UPDATE episodes m SET ${assignments}, version = m.version + 1
    FROM old WHERE m.tenant_id = ${tenantId} AND m.id = old.id
    RETURNING m.id::text AS id, m.consolidation_status AS status, old.snapshot AS before, ${snapshotOf('m')} AS after`;
}
