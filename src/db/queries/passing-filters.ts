import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import { whereMemory, type MemoryFilter } from '../sql/memory-filter.ts';
import { pastRows, rowsToSearch } from '../sql/search-rows.ts';
import type { MemoryType } from '../tables.ts';

/** Tells which of several filters of one moment a memory passes, by the conditions that a search uses. */
export async function testFilters(
  client: TenantClient,
  { type, id }: { type: MemoryType; id: string },
  filters: readonly MemoryFilter[],
): Promise<boolean[]> {
  const passes = filters.map((filter) => {
    const conditions = whereMemory(type, filter) ?? Prisma.sql`false`;
    return Prisma.sql`EXISTS (SELECT FROM ${rowsToSearch(type, filter)} m WHERE m.id = ${id}::uuid AND ${conditions})`;
  });
  const past = filters.slice(0, 1).flatMap((one) => pastRows(one));
  const states = past.length === 0 ? Prisma.empty : Prisma.sql`WITH ${Prisma.join(past)}`;
  const [row] = await client.$queryRaw<
    [{ passes: boolean[] }]
  >`${states} SELECT ARRAY[${Prisma.join(passes)}] AS passes`;
  return row.passes;
}
