import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';

/** Tables of records that are kept for a while only. None of them holds memories. */
export type Leftover = 'context_receipts' | 'idempotency_keys' | 'job_runs' | 'access_records' | 'consolidation_runs';

export interface LeftoversQuery {
  table: Leftover;
  /** Rows that ended at this moment or before. */
  until: Date;
  /** Rows that were written at this moment or before, whether they have ended or not. */
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

/** A run is kept for as long as there is an episode that it consolidated. */
const uses: Partial<Record<Leftover, string>> = {
  consolidation_runs: `AND NOT EXISTS (SELECT FROM episodes e
    WHERE e.tenant_id = consolidation_runs.tenant_id AND e.consolidation_run_id = consolidation_runs.id)`,
};

function isOver(tenantId: string, { table, until, keptSince = null }: LeftoversQuery): Prisma.Sql {
  const isKeptLongEnough = keptSince === null ? Prisma.empty : Prisma.sql`OR created_at <= ${keptSince}::timestamptz`;
  return Prisma.sql`tenant_id = ${tenantId}
    AND (${Prisma.raw(ends[table])} <= ${until}::timestamptz ${isKeptLongEnough}) ${Prisma.raw(uses[table] ?? '')}`;
}

/** Access records may not be updated, hence not locked for update either; only sweeps touch them. */
const lock = (table: Leftover): Prisma.Sql =>
  table === 'access_records' ? Prisma.empty : Prisma.sql`FOR UPDATE SKIP LOCKED`;

/** Deletes at most so many rows, and returns how many. Locked rows are left to a later sweep. */
export async function deleteLeftovers(client: TenantClient, query: LeftoversQuery, limit: number): Promise<number> {
  const { table } = query;
  const { tenantId } = client;
  const key = Prisma.raw(keys[table]);
  return client.$executeRaw`
    DELETE FROM ${Prisma.raw(table)} WHERE tenant_id = ${tenantId} AND ${key} IN (
      SELECT ${key} FROM ${Prisma.raw(table)} WHERE ${isOver(tenantId, query)}
      LIMIT ${limit} ${lock(table)})`;
}

export async function countLeftovers(client: TenantClient, query: LeftoversQuery): Promise<number> {
  const [row] = await client.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM ${Prisma.raw(query.table)} WHERE ${isOver(client.tenantId, query)}`;
  return row.count;
}
