import { Prisma } from '../../generated/prisma/client.ts';

/** What a server writes down for a while. None of it is memory. */
export type Leftover = 'context_receipts' | 'idempotency_keys' | 'job_runs' | 'access_records';

export interface LeftoversQuery {
  table: Leftover;
  tenantId: string;
  /** What was over at this moment or before. */
  until: Date;
}

const keys: Record<Leftover, string> = {
  context_receipts: 'id',
  idempotency_keys: 'key',
  job_runs: 'id',
  access_records: 'id',
};

const ends: Record<Leftover, string> = {
  context_receipts: 'expires_at',
  idempotency_keys: 'created_at',
  // A run whose process died never finishes.
  job_runs: 'coalesce(finished_at, last_sign_at)',
  access_records: 'accessed_at',
};

/** What may not be altered cannot be locked for it either; nobody but a sweep holds an access record. */
const lock = (table: Leftover): Prisma.Sql =>
  table === 'access_records' ? Prisma.empty : Prisma.sql`FOR UPDATE SKIP LOCKED`;

/** So many of them, and not those that somebody holds: a later sweep gets them. */
export function deleteLeftovers({ table, tenantId, until }: LeftoversQuery, limit: number): Prisma.Sql {
  const key = Prisma.raw(keys[table]);
  return Prisma.sql`
    DELETE FROM ${Prisma.raw(table)} WHERE tenant_id = ${tenantId} AND ${key} IN (
      SELECT ${key} FROM ${Prisma.raw(table)}
      WHERE tenant_id = ${tenantId} AND ${Prisma.raw(ends[table])} <= ${until}::timestamptz
      LIMIT ${limit} ${lock(table)})`;
}

export function countLeftovers({ table, tenantId, until }: LeftoversQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT count(*)::int AS count FROM ${Prisma.raw(table)}
    WHERE tenant_id = ${tenantId} AND ${Prisma.raw(ends[table])} <= ${until}::timestamptz`;
}
