import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import { changeMemories, readDuePage, type Batch, type ChangedMemory, type DuePage } from './change-memories.ts';

export interface EvictionQuery {
  type: 'fact' | 'rule';
  at: Date;
  /** How many facts and rules of each generation one butler may have. */
  mid: number;
  long: number;
}

/**
 * Finds live facts or rules beyond the capacity of a butler's generation, which both types share: of those that may go,
 * the oldest first. Each page ranks anew: what was evicted before makes the surplus smaller by as much.
 */
export async function findSurplus(
  client: TenantClient,
  query: EvictionQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, 'evicted' AS outcome FROM (${rankBySurplus(client.tenantId, warnedAt(query.at))}) m
    WHERE m.type = ${query.type} AND ${isSurplus(query)} AND m.id > ${after}::uuid
    ORDER BY m.id LIMIT ${limit}`,
  );
}

/** How many memories of a butler's generation the sweeps of the next seven days will evict, unless they are used. */
export interface DueEviction {
  butler: string;
  generation: 'mid' | 'long';
  count: number;
}

/** Counts what `findSurplus` will find within seven days, of one butler or, for null, of all. */
export async function countSurplus(
  client: TenantClient,
  query: Omit<EvictionQuery, 'type'>,
  butler: string | null,
): Promise<DueEviction[]> {
  return client.$queryRaw`
    SELECT m.source_butler AS butler, CASE WHEN m.is_long THEN 'long' ELSE 'mid' END AS generation, count(*)::int AS count
    FROM (${rankBySurplus(client.tenantId, query.at)}) m
    WHERE ${isSurplus(query)} AND m.source_butler = coalesce(${butler}::text, m.source_butler)
    GROUP BY 1, 2 ORDER BY 1, 2`;
}

/** Expires memories, except those that were referenced, confirmed or shown since they were found. */
export async function evictMemories(
  transaction: Transaction,
  { type }: EvictionQuery,
  batch: Batch,
): Promise<ChangedMemory[]> {
  return changeMemories(transaction, batch, {
    type,
    due: Prisma.sql`${isCounted(type)} AND ${isRemovable(type)}`,
    set: Prisma.raw(`validity = 'expired'`),
    eventType: Prisma.raw(`'${type}.evicted'::text`),
  });
}

/**
 * Capacity is measured by the memories of seven days ago: `countSurplus` listed whatever a sweep evicts a week
 * before, and no list of warnings has to be stored.
 */
function warnedAt(at: Date): Date {
  return new Date(at.getTime() - 7 * millisecondsPerDay);
}

/** Ranks the memories that were stored until a moment, those that may go first. */
function rankBySurplus(tenantId: string, until: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT m.*, row_number() OVER (PARTITION BY m.source_butler, m.is_long
        ORDER BY m.is_removable DESC, m.created_at, m.id) AS place,
      count(*) OVER (PARTITION BY m.source_butler, m.is_long) AS total
    FROM (
      SELECT 'fact' AS type, m.id, m.source_butler, m.permanence IN ('stable', 'permanent') AS is_long,
        ${isRemovable('fact')} AS is_removable, m.created_at
      FROM facts m WHERE m.tenant_id = ${tenantId} AND ${isCounted('fact')} AND m.created_at <= ${until}::timestamptz
      UNION ALL
      SELECT 'rule', m.id, m.source_butler, m.maturity = 'proven', ${isRemovable('rule')}, m.created_at
      FROM rules m WHERE m.tenant_id = ${tenantId} AND ${isCounted('rule')} AND m.created_at <= ${until}::timestamptz
    ) m`;
}

function isSurplus({ mid, long }: Pick<EvictionQuery, 'mid' | 'long'>): Prisma.Sql {
  return Prisma.sql`m.is_removable
    AND m.total - m.place >= CASE WHEN m.is_long THEN ${long}::bigint ELSE ${mid}::bigint END`;
}

/** A memory that no butler learned was stored on purpose, and a disabled rule waits for a person: neither counts. */
function isCounted(type: 'fact' | 'rule'): Prisma.Sql {
  const isUsed = type === 'fact' ? '' : 'AND m.disabled_at IS NULL';
  return Prisma.raw(`m.validity IN ('active', 'fading') AND m.source_butler IS NOT NULL ${isUsed}`);
}

/** Only what nobody ever used, below the default importance, may go; permanent facts, warnings and applied rules stay. */
function isRemovable(type: 'fact' | 'rule'): Prisma.Sql {
  const mayGo =
    type === 'fact' ? `m.permanence <> 'permanent'` : `m.maturity <> 'anti_pattern' AND m.applied_count = 0`;
  return Prisma.raw(`(${mayGo} AND m.importance < 5 AND m.last_referenced_at IS NULL AND m.last_shown_at IS NULL
    AND coalesce(m.last_confirmed_at, m.created_at) <= m.created_at)`);
}
