import type { Database } from '../database.ts';

/** The queue of tenant jobs: the data of each says which job for which tenant. */
export const tenantQueue = 'sweep-tenant';

/** A job's last run, and since when the job is on the schedule. */
export interface ScheduledRun {
  name: string;
  scheduledSince: Date | null;
  createdAt: Date | null;
  startedAt: Date | null;
  completedAt: Date | null;
  state: string | null;
}

/** Lists the last run of each job from the queue's own tables. A run is created when it is due, so a gap is a missed run. */
export async function listLastRuns(database: Pick<Database, 'queueQuery'>): Promise<ScheduledRun[]> {
  const { rows } = await database.queueQuery(`
    SELECT queue.name, schedule.created_on AS "scheduledSince", job.created_on AS "createdAt",
      job.started_on AS "startedAt", job.completed_on AS "completedAt", job.state::text
    FROM pgboss.queue
    LEFT JOIN pgboss.schedule ON schedule.name = queue.name
    LEFT JOIN LATERAL (
      SELECT created_on, started_on, completed_on, state FROM pgboss.job
      WHERE job.name = queue.name ORDER BY created_on DESC LIMIT 1
    ) AS job ON true
    WHERE queue.name NOT LIKE '\\_\\_%'`);
  return rows as ScheduledRun[];
}

/** Lists the jobs whose last sweep failed, in one tenant or, without one, in any. */
export async function listFailingJobs(
  database: Pick<Database, 'queueQuery'>,
  tenantId: string | null,
): Promise<Set<string>> {
  const { rows } = await database.queueQuery(
    `SELECT DISTINCT name FROM (
      SELECT DISTINCT ON (singleton_key) data ->> 'job' AS name, state::text
      FROM pgboss.job
      WHERE name = '${tenantQueue}' AND ($1::text IS NULL OR data ->> 'tenantId' = $1)
      ORDER BY singleton_key, created_on DESC
    ) AS latest WHERE state IN ('failed', 'retry')`,
    [tenantId],
  );
  return new Set((rows as { name: string }[]).map(({ name }) => name));
}
