import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from './memory-snapshot.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';

/** Which of several filters one memory passes, by the conditions that a search uses. */
export function selectPassingFilters(type: MemoryType, id: string, filters: readonly RowFilter[]): Prisma.Sql {
  const passes = filters.map((filter) => {
    const conditions = rowConditions(type, filter) ?? Prisma.sql`false`;
    return Prisma.sql`EXISTS (SELECT FROM ${Prisma.raw(memoryTables[type])} m WHERE m.id = ${id}::uuid AND ${conditions})`;
  });
  return Prisma.sql`SELECT ARRAY[${Prisma.join(passes)}] AS passes`;
}
