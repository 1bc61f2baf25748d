import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import { effectiveConfidenceAt } from '../sql/effective-confidence.ts';
import { whereMemory, type MemoryFilter } from '../sql/memory-filter.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

export const memoryOrders = [
  'createdAt',
  'importance',
  'references',
  'lastReferencedAt',
  'confidence',
  'effectiveness',
] as const;
export type MemoryOrder = (typeof memoryOrders)[number];

export interface ListQuery {
  type: MemoryType;
  filter: MemoryFilter;
  order: MemoryOrder;
  descending: boolean;
  /** The moment of the confidence that it is ordered by: that of the first page, or pages would not fit together. */
  orderedAt: Date;
}

/** A place in a list: the value that the list is ordered by, and the id that breaks ties. */
export interface ListPosition {
  value: string;
  id: string;
}

export interface ListPage {
  limit: number;
  after: ListPosition | null;
  before: ListPosition | null;
  /** From the end towards the beginning. */
  inverted: boolean;
}

interface ListedId {
  id: string;
  value: string;
}

/** Pages by position and not by number: what is stored meanwhile moves nothing. Numbers keep all their digits as text. */
export async function listMemoryIds(
  client: TenantClient,
  query: ListQuery,
  { limit, after, before, inverted }: ListPage,
): Promise<ListedId[]> {
  const isDescending = query.descending !== inverted;
  const direction = Prisma.raw(isDescending ? 'DESC' : 'ASC');
  return client.$queryRaw`
    SELECT id::text, value::text FROM (${ordered(query)}) listed
    WHERE ${beyond(query, after, query.descending)} AND ${beyond(query, before, !query.descending)}
    ORDER BY listed.value ${direction}, listed.id ${direction} LIMIT ${limit}`;
}

export async function countMemories(client: TenantClient, { type, filter }: ListQuery): Promise<number> {
  const [row] = await client.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM ${Prisma.raw(memoryTables[type])} m WHERE ${whereMemory(type, filter) ?? Prisma.sql`false`}`;
  return row?.count ?? 0;
}

function ordered({ type, filter, order, orderedAt }: ListQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT id, ${orderValue(order, orderedAt)} AS value FROM ${Prisma.raw(memoryTables[type])} m
    WHERE ${whereMemory(type, filter) ?? Prisma.sql`false`}`;
}

function orderValue(order: MemoryOrder, at: Date): Prisma.Sql {
  switch (order) {
    case 'createdAt':
      return Prisma.sql`created_at`;
    case 'lastReferencedAt':
      return Prisma.sql`coalesce(last_referenced_at, '-infinity')`;
    case 'importance':
      return Prisma.sql`importance`;
    case 'references':
      return Prisma.sql`reference_count`;
    case 'confidence':
      return effectiveConfidenceAt(at);
    case 'effectiveness':
      return Prisma.sql`effectiveness_score`;
  }
}

export const valueTypes = {
  createdAt: 'timestamptz',
  lastReferencedAt: 'timestamptz',
  importance: 'double precision',
  references: 'integer',
  confidence: 'double precision',
  effectiveness: 'double precision',
} as const satisfies Record<MemoryOrder, string>;

function beyond({ order }: ListQuery, position: ListPosition | null, downwards: boolean): Prisma.Sql {
  if (position === null) return Prisma.raw('true');
  const type = Prisma.raw(valueTypes[order]);
  const sign = Prisma.raw(downwards ? '<' : '>');
  return Prisma.sql`(listed.value, listed.id) ${sign} (${position.value}::text::${type}, ${position.id}::uuid)`;
}
