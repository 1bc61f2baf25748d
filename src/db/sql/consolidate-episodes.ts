import { Prisma } from '../../generated/prisma/client.ts';
import { changeEpisodes } from './change-episodes.ts';

interface EpisodesOfRun {
  tenantId: string;
  ids: readonly string[];
  runId: string;
}

const isPending = Prisma.sql`m.consolidation_status = 'pending' AND m.forgotten_at IS NULL`;

/** Done with: what they said is kept elsewhere, or was not worth it. */
export function consolidateEpisodes({ runId, ...episodes }: EpisodesOfRun): Prisma.Sql {
  return changeEpisodes(episodes, {
    assignments: Prisma.sql`consolidation_status = 'consolidated', consolidation_run_id = ${runId}::uuid,
      last_consolidation_error = NULL, next_consolidation_retry_at = NULL`,
    condition: isPending,
  });
}

export interface Failure {
  reason: string;
  /** False when no retry can mend it. */
  retryable: boolean;
  now: Date;
  maxAttempts: number;
  retryBaseSeconds: number;
  /** The next attempt waits at least so long. */
  leastWaitSeconds: number;
}

/** No retry waits longer: an exponent grows faster than anyone means it. */
const longestWaitSeconds = 30 * 24 * 3600;

/** Failed once more: tried again later, or after the last attempt by nobody until a person says so. */
export function failEpisodes({ runId, ...episodes }: EpisodesOfRun, failure: Failure): Prisma.Sql {
  const { reason, retryable, now, maxAttempts, retryBaseSeconds, leastWaitSeconds } = failure;
  const isLast = Prisma.sql`m.consolidation_attempts + 1 >= ${maxAttempts}`;
  const seconds = Prisma.sql`least(${longestWaitSeconds}::float8, greatest(${leastWaitSeconds}::float8,
    ${retryBaseSeconds}::float8 * power(2::float8, least(m.consolidation_attempts, 60))))`;
  const status = Prisma.sql`CASE WHEN ${isLast} THEN 'dead_letter' ELSE 'pending' END`;
  const retryAt = Prisma.sql`CASE WHEN ${isLast} THEN NULL ELSE ${now}::timestamptz + make_interval(secs => ${seconds}) END`;
  return changeEpisodes(episodes, {
    assignments: Prisma.sql`consolidation_status = ${retryable ? status : Prisma.sql`'failed'`},
      consolidation_attempts = m.consolidation_attempts + 1, consolidation_run_id = ${runId}::uuid,
      last_consolidation_error = ${reason},
      next_consolidation_retry_at = ${retryable ? retryAt : Prisma.sql`NULL`}`,
    condition: isPending,
  });
}
