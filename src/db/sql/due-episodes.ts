import { Prisma } from '../../generated/prisma/client.ts';

/** What makes an episode due for consolidation; `e` is the episode. */
export interface DueConditions {
  tenantId: string;
  now: Date;
  /** Episodes that expired before this are left to the cleanup. */
  expiredBefore: Date;
  /** Ids of episodes that are passed over. */
  except?: ReadonlySet<string> | undefined;
}

function isDue({ tenantId, now, expiredBefore, except }: DueConditions): Prisma.Sql {
  const isPassedOver =
    except === undefined || except.size === 0 ? Prisma.empty : Prisma.sql`AND e.id <> ALL (${[...except]}::uuid[])`;
  return Prisma.sql`e.tenant_id = ${tenantId} AND e.consolidation_status = 'pending' AND e.forgotten_at IS NULL
    AND e.expires_at > ${expiredBefore}::timestamptz
    AND (e.next_consolidation_retry_at IS NULL OR e.next_consolidation_retry_at <= ${now}::timestamptz) ${isPassedOver}`;
}

/**
 * From butler to butler through the index of pending episodes, so that the cost grows with the butlers that are passed
 * over and not with their episodes.
 */
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
  /** How often its oldest due episode has failed. */
  attempts: number;
}

/** The first butler after another, by name, that has something due and no run under way; or `only` that one. */
export function findDueGroup(due: DueConditions, { after, only }: { after: string; only: string | null }): Prisma.Sql {
  return Prisma.sql`
    WITH RECURSIVE butlers AS (${only === null ? butlersWithPending(due.tenantId) : Prisma.sql`SELECT ${only}::text AS butler`})
    SELECT b.butler, oldest.attempts FROM butlers b
    CROSS JOIN LATERAL (
      SELECT e.consolidation_attempts AS attempts FROM episodes e
      WHERE ${isDue(due)} AND e.butler = b.butler AND b.butler > ${after}
        AND NOT EXISTS (
          SELECT FROM consolidation_runs r
          WHERE r.tenant_id = ${due.tenantId} AND r.butler = b.butler AND r.status = 'running')
      ORDER BY e.created_at, e.id LIMIT 1
    ) oldest
    LIMIT 1`;
}

/** Those of one butler that failed so often, in the order in which they were stored. */
export function selectDueEpisodes(
  due: DueConditions,
  { butler, attempts, limit }: DueGroup & { limit: number },
): Prisma.Sql {
  return Prisma.sql`
    SELECT e.id::text AS id, e.session_id::text AS "sessionId", e.content, e.importance, e.created_at AS "createdAt",
      e.observed_at AS "observedAt"
    FROM episodes e
    WHERE ${isDue(due)} AND e.butler = ${butler} AND e.consolidation_attempts = ${attempts}
    ORDER BY e.created_at, e.id LIMIT ${limit}
    FOR UPDATE SKIP LOCKED`;
}

/** How many are due for each butler, those of runs under way left out. */
export function countDueEpisodes(due: DueConditions): Prisma.Sql {
  return Prisma.sql`
    SELECT e.butler, count(*)::int AS episodes FROM episodes e
    WHERE ${isDue(due)} AND NOT EXISTS (
      SELECT FROM consolidation_runs r
      WHERE r.tenant_id = e.tenant_id AND r.status = 'running' AND e.id = ANY (r.episode_ids))
    GROUP BY e.butler ORDER BY e.butler`;
}

/** Whether so many are due. It counts no further. */
export function areManyDue(due: DueConditions, atLeast: number): Prisma.Sql {
  return Prisma.sql`
    SELECT count(*) = ${atLeast} AS many FROM (
      SELECT FROM episodes e WHERE ${isDue(due)} LIMIT ${atLeast}
    ) due`;
}
