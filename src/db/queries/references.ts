import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

export interface ReferenceCount {
  id: string;
  /** References to add; 0 for a memory that was only shown in a context. */
  count: number;
  /** The time of the latest reference. */
  at: Date | null;
  /** Digests of the sessions that it was returned to. */
  sessions: readonly string[];
  /** When a context last showed it. */
  shownAt: Date | null;
}

/**
 * Adds references, one statement a type and one round trip for all. Locks the rows in the order of their ids: two updates
 * of the same rows in another order deadlock. None of the columns is in an index or an event.
 */
export async function addReferences(
  db: TenantDatabase,
  byType: ReadonlyMap<MemoryType, readonly ReferenceCount[]>,
  mostSessions: number,
): Promise<void> {
  if (byType.size === 0) return;
  await db.roundTrip(
    [...byType].map(([type, references]) => updateReferences(type, db.tenantId, references, mostSessions)),
  );
}

function updateReferences(
  type: MemoryType,
  tenantId: string,
  references: readonly ReferenceCount[],
  mostSessions: number,
): Prisma.Sql {
  const table = Prisma.raw(memoryTables[type]);
  const ids = references.map(({ id }) => id);
  const given = Prisma.sql`unnest(${ids}::uuid[], ${references.map(({ count }) => count)}::int[],
      ${references.map(({ at }) => at?.toISOString() ?? null)}::timestamptz[],
      ${references.map(({ shownAt }) => shownAt?.toISOString() ?? null)}::timestamptz[],
      ${references.map(({ sessions }) => sessions.join(' '))}::text[])`;
  return Prisma.sql`
    WITH locked AS (
      SELECT m.id FROM ${table} m WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[])
      ORDER BY m.id FOR NO KEY UPDATE
    )
    UPDATE ${table} m
    SET reference_count = m.reference_count + given.count,
      last_referenced_at = greatest(m.last_referenced_at, given.at),
      last_shown_at = greatest(m.last_shown_at, given.shown_at)
      ${type === 'fact' ? addSessions(mostSessions) : Prisma.empty}
    FROM locked JOIN ${given} AS given(id, count, at, shown_at, sessions) ON given.id = locked.id
    WHERE m.tenant_id = ${tenantId} AND m.id = locked.id`;
}

/** Only facts are promoted for their references. The earliest sessions stay. */
function addSessions(most: number): Prisma.Sql {
  return Prisma.sql`, reference_sessions = ARRAY (
      SELECT session FROM unnest(m.reference_sessions || string_to_array(given.sessions, ' '))
        WITH ORDINALITY AS known(session, place)
      GROUP BY session ORDER BY min(place) LIMIT ${most})`;
}
