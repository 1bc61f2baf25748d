import { Prisma } from '../../generated/prisma/client.ts';

/** Of those whose tombstones are written: the database refuses it for others. */
export function deleteEpisodes(tenantId: string, ids: readonly string[]): Prisma.Sql {
  return Prisma.sql`DELETE FROM episodes WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::uuid[])`;
}
