import { Prisma } from '../../generated/prisma/client.ts';

/** What a server writes down for a while. None of it is memory. */
export type Leftover = 'context_receipts' | 'idempotency_keys' | 'job_runs' | 'access_records' | 'consolidation_runs';

export interface LeftoversQuery {
  table: Leftover;
  tenantId: string;
  /** What was over at this moment or before. */
  until: Date;
  /** What was written at this moment or before, whether it is over or not. */
  keptSince?: Date | null;
}

const keys: Record<Leftover, string> = {
  context_receipts: 'id',
  idempotency_keys: 'key',
  job_runs: 'id',
  access_records: 'id',
  consolidation_runs: 'id',
};

const ends: Record<Leftover, string> = {
  context_receipts: 'expires_at',
  idempotency_keys: 'created_at',
  // A run whose process died never finishes.
  job_runs: 'coalesce(finished_at, last_sign_at)',
  access_records: 'accessed_at',
  consolidation_runs: 'finished_at',
};

/** An episode says by which run it was consolidated for as long as it is there. */
const uses: Partial<Record<Leftover, string>> = {
  consolidation_runs: `AND NOT EXISTS (SELECT FROM episodes e
    WHERE e.tenant_id = consolidation_runs.tenant_id AND e.consolidation_run_id = consolidation_runs.id)`,
};

function isOver({ table, tenantId, until, keptSince = null }: LeftoversQuery): Prisma.Sql {
  const isKeptLongEnough = keptSince === null ? Prisma.empty : Prisma.sql`OR created_at <= ${keptSince}::timestamptz`;
  return Prisma.sql`tenant_id = ${tenantId}
    AND (${Prisma.raw(ends[table])} <= ${until}::timestamptz ${isKeptLongEnough}) ${Prisma.raw(uses[table] ?? '')}`;
}

/** What may not be altered cannot be locked for it either; nobody but a sweep holds an access record. */
const lock = (table: Leftover): Prisma.Sql =>
  table === 'access_records' ? Prisma.empty : Prisma.sql`FOR UPDATE SKIP LOCKED`;

/** So many of them, and not those that somebody holds: a later sweep gets them. */
export function deleteLeftovers(query: LeftoversQuery, limit: number): Prisma.Sql {
  const { table, tenantId } = query;
  const key = Prisma.raw(keys[table]);
  return Prisma.sql`
    DELETE FROM ${Prisma.raw(table)} WHERE tenant_id = ${tenantId} AND ${key} IN (
      SELECT ${key} FROM ${Prisma.raw(table)} WHERE ${isOver(query)}
      LIMIT ${limit} ${lock(table)})`;
}

export function countLeftovers(query: LeftoversQuery): Prisma.Sql {
  return Prisma.sql`SELECT count(*)::int AS count FROM ${Prisma.raw(query.table)} WHERE ${isOver(query)}`;
}
