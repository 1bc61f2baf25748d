import { Prisma, type Episode } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';

/** What makes an episode due for consolidation. */
export interface DueConditions {
  now: Date;
  /** Episodes that expired before this are left to the cleanup. */
  expiredBefore: Date;
  /** Ids of episodes that are left out. */
  except?: ReadonlySet<string> | undefined;
}

function isDue(tenantId: string, { now, expiredBefore, except }: DueConditions): Prisma.Sql {
  const isLeftIn =
    except === undefined || except.size === 0 ? Prisma.empty : Prisma.sql`AND e.id <> ALL (${[...except]}::uuid[])`;
  return Prisma.sql`e.tenant_id = ${tenantId} AND e.consolidation_status = 'pending' AND e.forgotten_at IS NULL
    AND e.expires_at > ${expiredBefore}::timestamptz
    AND (e.next_consolidation_retry_at IS NULL OR e.next_consolidation_retry_at <= ${now}::timestamptz) ${isLeftIn}`;
}

/** Jumps from butler to butler through the index of pending episodes: the cost grows with butlers, not with episodes. */
function butlersWithPending(tenantId: string): Prisma.Sql {
  const next = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
    (SELECT e.butler FROM episodes e
     WHERE e.tenant_id = ${tenantId} AND e.consolidation_status = 'pending' AND ${condition}
     ORDER BY e.butler LIMIT 1)`;
  return Prisma.sql`
    SELECT butler FROM (${next(Prisma.sql`true`)}) first
    UNION ALL
    SELECT ${next(Prisma.sql`e.butler > b.butler`)} FROM butlers b WHERE b.butler IS NOT NULL`;
}

export interface DueGroup {
  butler: string;
  /** How often the oldest due episode of the butler has failed. */
  attempts: number;
}

/** Finds the first butler after another, by name, with a due episode and no running run; or `only` that butler. */
export async function findDueGroup(
  client: TenantClient,
  due: DueConditions,
  { after, only }: { after: string; only: string | null },
): Promise<DueGroup | null> {
  const { tenantId } = client;
  const [group] = await client.$queryRaw<DueGroup[]>`
    WITH RECURSIVE butlers AS (${only === null ? butlersWithPending(tenantId) : Prisma.sql`SELECT ${only}::text AS butler`})
    SELECT b.butler, oldest.attempts FROM butlers b
    CROSS JOIN LATERAL (
      SELECT e.consolidation_attempts AS attempts FROM episodes e
      WHERE ${isDue(tenantId, due)} AND e.butler = b.butler AND b.butler > ${after}
        AND NOT EXISTS (
          SELECT FROM consolidation_runs r
          WHERE r.tenant_id = ${tenantId} AND r.butler = b.butler AND r.status = 'running')
      ORDER BY e.created_at, e.id LIMIT 1
    ) oldest
    LIMIT 1`;
  return group ?? null;
}

export type ClaimedEpisode = Pick<
  Episode,
  'id' | 'sessionId' | 'content' | 'segments' | 'importance' | 'createdAt' | 'observedAt'
> &
  Partial<Pick<Episode, 'hiddenSpans'>>;

/** Locks due episodes of a group, in the order in which they were stored. Episodes that are locked already are skipped. */
export async function lockDueEpisodes(
  transaction: Transaction,
  due: DueConditions,
  { butler, attempts, limit }: DueGroup & { limit: number },
): Promise<ClaimedEpisode[]> {
  return transaction.$queryRaw`
    SELECT e.id::text AS id, e.session_id::text AS "sessionId", e.content, e.segments, e.hidden_spans AS "hiddenSpans", e.importance, e.created_at AS "createdAt",
      e.observed_at AS "observedAt"
    FROM episodes e
    WHERE ${isDue(transaction.tenantId, due)} AND e.butler = ${butler} AND e.consolidation_attempts = ${attempts}
    ORDER BY e.created_at, e.id LIMIT ${limit}
    FOR UPDATE SKIP LOCKED`;
}

export interface DueCount {
  butler: string;
  episodes: number;
}

/** Counts due episodes by butler, without those of running runs. */
export async function countDueEpisodes(client: TenantClient, due: DueConditions): Promise<DueCount[]> {
  return client.$queryRaw`
    SELECT e.butler, count(*)::int AS episodes FROM episodes e
    WHERE ${isDue(client.tenantId, due)} AND NOT EXISTS (
      SELECT FROM consolidation_runs r
      WHERE r.tenant_id = e.tenant_id AND r.status = 'running' AND e.id = ANY (r.episode_ids))
    GROUP BY e.butler ORDER BY e.butler`;
}

/** Tells whether at least so many episodes are due. Counts no further. */
export async function areManyDue(client: TenantClient, due: DueConditions, atLeast: number): Promise<boolean> {
  const [row] = await client.$queryRaw<[{ many: boolean }]>`
    SELECT count(*) = ${atLeast} AS many FROM (
      SELECT FROM episodes e WHERE ${isDue(client.tenantId, due)} LIMIT ${atLeast}
    ) due`;
  return row.many;
}
