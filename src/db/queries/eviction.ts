import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { changeMemories, readDuePage, type Batch, type ChangedMemory, type DuePage } from './change-memories.ts';

export interface EvictionQuery {
  type: 'fact' | 'rule';
  at: Date;
  /** How many facts and rules of each generation one butler may have. */
  mid: number;
  long: number;
}

/**
 * Finds live facts or rules beyond the capacity of a butler's generation, which both types share: the least recently
 * referenced, confirmed or shown first, permanent facts last. Anti-patterns count, but are never evicted. Each page ranks
 * anew: what was evicted before makes the surplus smaller by as much.
 */
export async function findSurplus(
  client: TenantClient,
  query: EvictionQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  const { tenantId } = client;
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, 'evicted' AS outcome FROM (
      SELECT m.*, row_number() OVER (PARTITION BY m.source_butler, m.is_long
          ORDER BY m.is_removable DESC, m.is_permanent, m.used_at, m.id) AS place,
        count(*) OVER (PARTITION BY m.source_butler, m.is_long) AS total
      FROM (
        SELECT 'fact' AS type, m.id, m.source_butler, m.permanence IN ('stable', 'permanent') AS is_long,
          m.permanence = 'permanent' AS is_permanent, true AS is_removable, ${usedAt} AS used_at
        FROM facts m WHERE m.tenant_id = ${tenantId} AND ${isCounted('fact')}
        UNION ALL
        SELECT 'rule', m.id, m.source_butler, m.maturity = 'proven', false, m.maturity <> 'anti_pattern', ${usedAt}
        FROM rules m WHERE m.tenant_id = ${tenantId} AND ${isCounted('rule')}
      ) m
    ) m
    WHERE m.type = ${query.type} AND m.is_removable
      AND m.total - m.place >= CASE WHEN m.is_long THEN ${query.long}::bigint ELSE ${query.mid}::bigint END
      AND m.id > ${after}::uuid
    ORDER BY m.id LIMIT ${limit}`,
  );
}

/** Expires memories, except those that were referenced, confirmed or shown since they were found. */
export async function evictMemories(
  transaction: Transaction,
  { type, at }: EvictionQuery,
  batch: Batch,
): Promise<ChangedMemory[]> {
  const isRemovable = Prisma.raw(type === 'fact' ? 'true' : `m.maturity <> 'anti_pattern'`);
  return changeMemories(transaction, batch, {
    type,
    due: Prisma.sql`${isCounted(type)} AND ${isRemovable} AND ${usedAt} <= ${at}::timestamptz`,
    set: Prisma.raw(`validity = 'expired'`),
    eventType: Prisma.raw(`'${type}.evicted'::text`),
  });
}

/** A memory that no butler learned was stored on purpose, and a disabled rule waits for a person: neither counts. */
function isCounted(type: 'fact' | 'rule'): Prisma.Sql {
  const isUsed = type === 'fact' ? '' : 'AND m.disabled_at IS NULL AND m.forgotten_at IS NULL';
  return Prisma.raw(`m.validity IN ('active', 'fading') AND m.source_butler IS NOT NULL ${isUsed}`);
}

const usedAt = Prisma.raw(
  'greatest(coalesce(m.last_referenced_at, m.created_at), m.last_confirmed_at, m.last_shown_at)',
);
