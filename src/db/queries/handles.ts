import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';

/** Hexadecimal digits that the indexes `<table>_by_handle` have. */
const indexedDigits = 7;

/** Lists memories whose ids end so, at most `limit`. The ending has at least as many digits as the indexes. */
export async function listByEndOfId(
  client: TenantClient,
  end: string,
  limit: number,
): Promise<{ type: MemoryType; id: string }[]> {
  const statements = memoryTypes.map(
    (type) => Prisma.sql`
      SELECT ${type}::text AS type, m.id::text AS id FROM ${Prisma.raw(memoryTables[type])} m
      WHERE m.tenant_id = ${client.tenantId} AND right(m.id::text, ${Prisma.raw(String(indexedDigits))}) = ${end.slice(-indexedDigits)}
        AND right(m.id::text, ${end.length}::int) = ${end}`,
  );
  return client.$queryRaw`${Prisma.join(statements, ' UNION ALL ')} ORDER BY type, id LIMIT ${limit}`;
}
