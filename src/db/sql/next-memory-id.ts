import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

/** The next that a sweep would look at, for passing over one that it cannot look at. */
export function nextMemoryId(type: MemoryType, tenantId: string, after: string): Prisma.Sql {
  const isLive = Prisma.raw(type === 'episode' ? '' : `AND validity IN ('active', 'fading')`);
  return Prisma.sql`
    SELECT id::text FROM ${Prisma.raw(memoryTables[type])}
    WHERE tenant_id = ${tenantId} AND id > ${after}::uuid ${isLive} ORDER BY id LIMIT 1`;
}
