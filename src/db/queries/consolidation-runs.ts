import { Prisma, type ConsolidationRun } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../shared/names.ts';
import type { TenantClient, TenantDatabase, Transaction } from '../database.ts';

export interface NewRun {
  id: string;
  butler: string;
  engine: string;
  worker: string;
  leaseExpiresAt: Date;
  startedAt: Date;
}

/** Inserts a run. Returns false if the butler has a running one: a concurrent insert waits here for the first. */
export async function insertRun(transaction: Transaction, run: NewRun): Promise<boolean> {
  const count = await transaction.$executeRaw`
    INSERT INTO consolidation_runs (tenant_id, id, butler, engine, status, worker, lease_expires_at, started_at)
    VALUES (${transaction.tenantId}, ${run.id}::uuid, ${run.butler}, ${run.engine}, 'running', ${run.worker},
      ${run.leaseExpiresAt}::timestamptz, ${run.startedAt}::timestamptz)
    ON CONFLICT (tenant_id, butler) WHERE status = 'running' DO NOTHING`;
  return count > 0;
}

/** A run whose row is locked until the end of the transaction, so that its lease cannot be given back meanwhile. */
export type LockedRun = Pick<
  ConsolidationRun,
  'id' | 'butler' | 'status' | 'leaseExpiresAt' | 'episodeIds' | 'outputDigest'
> & {
  /** The row as events keep it. */
  snapshot: Prisma.JsonObject;
};

const lockedColumns = Prisma.sql`
  r.id::text, r.butler, r.status, r.lease_expires_at AS "leaseExpiresAt", r.episode_ids::text[] AS "episodeIds",
  r.output_digest AS "outputDigest", to_jsonb(r) AS snapshot`;

export async function lockRun(transaction: Transaction, id: string): Promise<LockedRun | null> {
  const [run] = await transaction.$queryRaw<LockedRun[]>`
    SELECT ${lockedColumns} FROM consolidation_runs r
    WHERE r.tenant_id = ${transaction.tenantId} AND r.id = ${id}::uuid FOR UPDATE`;
  return run ?? null;
}

/** Locks a run whose lease has ended. Returns null if the lease holds, or another transaction has the run. */
export async function lockLostRun(transaction: Transaction, id: string, now: Date): Promise<LockedRun | null> {
  const [run] = await transaction.$queryRaw<LockedRun[]>`
    SELECT ${lockedColumns} FROM consolidation_runs r
    WHERE ${isLost(transaction.tenantId, now)} AND r.id = ${id}::uuid FOR UPDATE SKIP LOCKED`;
  return run ?? null;
}

/** Lists the ids of runs whose lease has ended. */
export async function listLostRuns(client: TenantClient, now: Date): Promise<string[]> {
  const rows = await client.$queryRaw<{ id: string }[]>`
    SELECT r.id::text FROM consolidation_runs r WHERE ${isLost(client.tenantId, now)} ORDER BY r.id`;
  return rows.map(({ id }) => id);
}

/** Returns whether there is a run whose lease has ended. */
export async function hasLostRun(db: TenantDatabase, now: Date): Promise<boolean> {
  const statement = Prisma.sql`SELECT EXISTS (SELECT FROM consolidation_runs r WHERE ${isLost(db.tenantId, now)})`;
  const [answer] = await db.roundTrip([statement]);
  return answer === 't';
}

function isLost(tenantId: string, now: Date): Prisma.Sql {
  return Prisma.sql`r.tenant_id = ${tenantId} AND r.status = 'running' AND r.lease_expires_at <= ${now}::timestamptz`;
}

/** Updates columns of a run, and returns its row as events keep it. */
export async function updateRun(
  transaction: Transaction,
  id: string,
  values: Partial<ConsolidationRun>,
): Promise<Prisma.JsonObject> {
  const row = Object.fromEntries(Object.entries(values).map(([name, value]) => [toSnakeCase(name), value]));
  const columns = Object.keys(row).map((name) => Prisma.raw(`"${name}" = given."${name}"`));
  const [updated] = await transaction.$queryRaw<[{ snapshot: Prisma.JsonObject }]>`
    UPDATE consolidation_runs AS r SET ${Prisma.join(columns)}
    FROM jsonb_populate_record(NULL::consolidation_runs, ${JSON.stringify(row)}::jsonb) AS given
    WHERE r.tenant_id = ${transaction.tenantId} AND r.id = ${id}::uuid
    RETURNING to_jsonb(r) AS snapshot`;
  return updated.snapshot;
}

/** Extends a lease. Returns false once it has ended: another worker may have the episodes by then. */
export async function extendLease(
  client: TenantClient,
  id: string,
  { now, until }: { now: Date; until: Date },
): Promise<boolean> {
  const count = await client.$executeRaw`
    UPDATE consolidation_runs SET lease_expires_at = ${until}::timestamptz
    WHERE tenant_id = ${client.tenantId} AND id = ${id}::uuid AND status = 'running'
      AND lease_expires_at > ${now}::timestamptz`;
  return count > 0;
}
