import { Prisma } from '../../generated/prisma/client.ts';
import { whereMemory, type MemoryFilter } from './memory-filter.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { pageWithTotal } from './page-with-total.ts';

export interface TimelineQuery {
  filter: MemoryFilter;
  from: Date | null;
  to: Date | null;
  offset: number;
  limit: number;
}

/** When something happened or began to hold in the world, as far as that is known; else when it was stored. */
const moments: Record<MemoryType, string> = {
  episode: 'coalesce(observed_at, created_at)',
  fact: 'coalesce(observed_at, valid_from, created_at)',
  rule: 'created_at',
};

export function timeline({ filter, from, to, offset, limit }: TimelineQuery): Prisma.Sql {
  const parts = filter.types.map(
    (type) => Prisma.sql`
      SELECT ${type}::text AS type, id, ${Prisma.raw(moments[type])} AS at FROM ${Prisma.raw(memoryTables[type])} m
      WHERE ${whereMemory(type, filter) ?? Prisma.sql`false`}`,
  );
  const entries = Prisma.sql`
    SELECT type, id::text, at FROM (${Prisma.join(parts, ' UNION ALL ')}) entries
    WHERE (${from}::timestamptz IS NULL OR at >= ${from}) AND (${to}::timestamptz IS NULL OR at < ${to})`;
  return pageWithTotal(entries, 'at DESC, type, id', { offset, limit });
}
