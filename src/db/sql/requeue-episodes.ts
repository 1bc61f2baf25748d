import { Prisma } from '../../generated/prisma/client.ts';
import { changeEpisodes } from './change-episodes.ts';

export interface Requeue {
  tenantId: string;
  ids: readonly string[];
  /** Only of this butler, if given. */
  butler: string | null;
  /** What expired before this is too old to be claimed. */
  expiredBefore: Date;
}

/** As if they had never been tried. Which run they come from stays known. */
export function requeue({ butler, expiredBefore, ...episodes }: Requeue): Prisma.Sql {
  return changeEpisodes(episodes, {
    assignments: Prisma.sql`consolidation_status = 'pending', consolidation_attempts = 0, last_consolidation_error = NULL,
      next_consolidation_retry_at = NULL`,
    condition: Prisma.sql`m.consolidation_status <> 'pending' AND m.forgotten_at IS NULL
      AND m.expires_at > ${expiredBefore}::timestamptz AND (${butler}::text IS NULL OR m.butler = ${butler}::text)`,
  });
}

export interface RequeueFilter {
  tenantId: string;
  statuses: readonly string[];
  engine: string | null;
  butler: string | null;
  since: Date | null;
  /** What expired before this is too old to be claimed. */
  expiredBefore: Date;
  limit: number;
}

/** The oldest first, of those that can be requeued: others would take their places. */
export function selectToRequeue(filter: RequeueFilter): Prisma.Sql {
  const { tenantId, statuses, engine, butler, since, expiredBefore, limit } = filter;
  return Prisma.sql`
    SELECT e.id::text AS id FROM episodes e
    LEFT JOIN consolidation_runs r ON r.tenant_id = e.tenant_id AND r.id = e.consolidation_run_id
    WHERE e.tenant_id = ${tenantId} AND e.consolidation_status = ANY (${statuses}::text[]) AND e.forgotten_at IS NULL
      AND e.expires_at > ${expiredBefore}::timestamptz
      AND (${engine}::text IS NULL OR r.engine = ${engine}::text)
      AND (${butler}::text IS NULL OR e.butler = ${butler}::text)
      AND (${since}::timestamptz IS NULL OR e.created_at >= ${since}::timestamptz)
    ORDER BY e.created_at, e.id LIMIT ${limit}`;
}
