import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from '../tables.ts';
import { whereMemory, type MemoryFilter } from './memory-filter.ts';
import { pastRows, rowsToSearch } from './search-rows.ts';

/** Which of several filters of one moment a memory passes, by the conditions that a search uses. */
export function selectPassingFilters(type: MemoryType, id: string, filters: readonly MemoryFilter[]): Prisma.Sql {
  const passes = filters.map((filter) => {
    const conditions = whereMemory(type, filter) ?? Prisma.sql`false`;
    return Prisma.sql`EXISTS (SELECT FROM ${rowsToSearch(type, filter)} m WHERE m.id = ${id}::uuid AND ${conditions})`;
  });
  const past = filters.slice(0, 1).flatMap((one) => pastRows(one));
  const states = past.length === 0 ? Prisma.empty : Prisma.sql`WITH ${Prisma.join(past)}`;
  return Prisma.sql`${states} SELECT ARRAY[${Prisma.join(passes)}] AS passes`;
}
