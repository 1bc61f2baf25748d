import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from './memory-snapshot.ts';

export interface ReferenceCount {
  id: string;
  count: number;
  at: Date;
}

/**
 * The rows are locked in the order of their ids, or two bumps of the same rows in another order would wait for each
 * other. Neither column is in an index or an event.
 */
export function bumpReferencesOf(
  type: MemoryType,
  tenantId: string,
  references: readonly ReferenceCount[],
): Prisma.Sql {
  const table = Prisma.raw(memoryTables[type]);
  const ids = references.map(({ id }) => id);
  return Prisma.sql`
    WITH locked AS (
      SELECT m.id FROM ${table} m WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[])
      ORDER BY m.id FOR NO KEY UPDATE
    )
    UPDATE ${table} m
    SET reference_count = m.reference_count + given.count,
      last_referenced_at = greatest(m.last_referenced_at, given.at)
    FROM locked JOIN unnest(${ids}::uuid[], ${references.map(({ count }) => count)}::int[],
      ${references.map(({ at }) => at.toISOString())}::timestamptz[]) AS given(id, count, at) ON given.id = locked.id
    WHERE m.tenant_id = ${tenantId} AND m.id = locked.id`;
}
