import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { snapshotOf } from './snapshots.ts';

export interface ChangedEpisode {
  id: string;
  status: string;
  /** When it was observed, or else stored. */
  saidAt: Date;
  /** The row as events keep it, before and after the change. */
  before: Prisma.JsonObject;
  after: Prisma.JsonObject;
}

/** Changes the episodes that meet the condition, and returns them. */
async function changeEpisodes(
  transaction: Transaction,
  ids: readonly string[],
  { assignments, condition }: { assignments: Prisma.Sql; condition: Prisma.Sql },
): Promise<ChangedEpisode[]> {
  if (ids.length === 0) return [];
  const { tenantId } = transaction;
  return transaction.$queryRaw`
    WITH old AS (
      SELECT m.id, ${snapshotOf('m')} AS snapshot FROM episodes m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${condition}
      ORDER BY m.id FOR UPDATE
    )
    UPDATE episodes m SET ${assignments}, version = m.version + 1
    FROM old WHERE m.tenant_id = ${tenantId} AND m.id = old.id
    RETURNING m.id::text AS id, m.consolidation_status AS status, least(m.observed_at, m.created_at) AS "saidAt", old.snapshot AS before,
      ${snapshotOf('m')} AS after`;
}

const isPending = Prisma.sql`m.consolidation_status = 'pending' AND m.forgotten_at IS NULL`;

export interface Consolidated {
  runId: string;
  /** Those of the episodes of which the engine kept nothing. */
  nothingFound: readonly string[];
  /** Age in days at which those expire, unless they live longer anyway. */
  nothingFoundDays: number;
}

export async function markConsolidated(
  transaction: Transaction,
  ids: readonly string[],
  { runId, nothingFound, nothingFoundDays }: Consolidated,
): Promise<ChangedEpisode[]> {
  const isEmpty = Prisma.sql`m.id = ANY (${nothingFound}::uuid[])`;
  return changeEpisodes(transaction, ids, {
    assignments: Prisma.sql`consolidation_status = 'consolidated', consolidation_run_id = ${runId}::uuid,
      last_consolidation_error = NULL, next_consolidation_retry_at = NULL, nothing_found = ${isEmpty},
      expires_at = CASE WHEN ${isEmpty}
        THEN greatest(m.expires_at, m.created_at + make_interval(secs => ${nothingFoundDays * 86_400}::float8))
        ELSE m.expires_at END`,
    condition: isPending,
  });
}

export interface FailedAttempt {
  runId: string;
  reason: string;
  /** False when no retry can succeed. */
  retryable: boolean;
  now: Date;
  maxAttempts: number;
  retryBaseSeconds: number;
  /** The next attempt waits at least this long. */
  leastWaitSeconds: number;
}

/** No retry waits longer: exponential back-off would outgrow any intention. */
const longestWaitSeconds = 30 * 24 * 3600;

/** Counts a failed attempt: schedules the next one, or makes the episode a dead letter after the last. */
export async function markFailed(
  transaction: Transaction,
  ids: readonly string[],
  { runId, reason, retryable, now, maxAttempts, retryBaseSeconds, leastWaitSeconds }: FailedAttempt,
): Promise<ChangedEpisode[]> {
  const isLast = Prisma.sql`m.consolidation_attempts + 1 >= ${maxAttempts}`;
  const seconds = Prisma.sql`least(${longestWaitSeconds}::float8, greatest(${leastWaitSeconds}::float8,
    ${retryBaseSeconds}::float8 * power(2::float8, least(m.consolidation_attempts, 60))))`;
  const status = Prisma.sql`CASE WHEN ${isLast} THEN 'dead_letter' ELSE 'pending' END`;
  const retryAt = Prisma.sql`CASE WHEN ${isLast} THEN NULL ELSE ${now}::timestamptz + make_interval(secs => ${seconds}) END`;
  return changeEpisodes(transaction, ids, {
    assignments: Prisma.sql`consolidation_status = ${retryable ? status : Prisma.sql`'failed'`},
      consolidation_attempts = m.consolidation_attempts + 1, consolidation_run_id = ${runId}::uuid,
      last_consolidation_error = ${reason},
      next_consolidation_retry_at = ${retryable ? retryAt : Prisma.sql`NULL`}`,
    condition: isPending,
  });
}

/** Makes episodes pending as if they had never been tried. Keeps the id of their last run. */
export async function markPending(
  transaction: Transaction,
  ids: readonly string[],
  { butler, expiredBefore }: { butler: string | null; expiredBefore: Date },
): Promise<ChangedEpisode[]> {
  return changeEpisodes(transaction, ids, {
    assignments: Prisma.sql`consolidation_status = 'pending', consolidation_attempts = 0, last_consolidation_error = NULL,
      next_consolidation_retry_at = NULL, nothing_found = false`,
    condition: Prisma.sql`m.consolidation_status <> 'pending' AND m.forgotten_at IS NULL
      AND m.expires_at > ${expiredBefore}::timestamptz AND (${butler}::text IS NULL OR m.butler = ${butler}::text)`,
  });
}

export interface RequeueFilter {
  statuses: readonly string[];
  engine: string | null;
  /** Only episodes of which consolidation kept nothing. */
  nothingFound: boolean;
  butler: string | null;
  since: Date | null;
  /** Episodes that expired before this are too old to be claimed. */
  expiredBefore: Date;
  limit: number;
}

/** Lists the ids of episodes that can be requeued, the oldest first. */
export async function listToRequeue(client: TenantClient, filter: RequeueFilter): Promise<string[]> {
  const { statuses, engine, nothingFound, butler, since, expiredBefore, limit } = filter;
  const rows = await client.$queryRaw<{ id: string }[]>`
    SELECT e.id::text AS id FROM episodes e
    LEFT JOIN consolidation_runs r ON r.tenant_id = e.tenant_id AND r.id = e.consolidation_run_id
    WHERE e.tenant_id = ${client.tenantId} AND e.consolidation_status = ANY (${statuses}::text[])
      AND e.forgotten_at IS NULL AND e.expires_at > ${expiredBefore}::timestamptz
      AND (${engine}::text IS NULL OR r.engine = ${engine}::text)
      AND (NOT ${nothingFound}::boolean OR e.nothing_found)
      AND (${butler}::text IS NULL OR e.butler = ${butler}::text)
      AND (${since}::timestamptz IS NULL OR e.created_at >= ${since}::timestamptz)
    ORDER BY e.created_at, e.id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
