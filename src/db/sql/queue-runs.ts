/** The queue of the sweeps of single tenants: its jobs say in their data which job for which tenant. */
export const tenantQueue = 'sweep-tenant';

/**
 * The queue's own tables: since when each job is on the schedule and the last run that it got. A run is created when it
 * is due, hence what was created last tells whether one was missed.
 */
export const lastScheduledRuns = `
  SELECT queue.name, schedule.created_on AS "scheduledSince", job.created_on AS "createdAt",
    job.started_on AS "startedAt", job.completed_on AS "completedAt", job.state::text
  FROM pgboss.queue
  LEFT JOIN pgboss.schedule ON schedule.name = queue.name
  LEFT JOIN LATERAL (
    SELECT created_on, started_on, completed_on, state FROM pgboss.job
    WHERE job.name = queue.name ORDER BY created_on DESC LIMIT 1
  ) AS job ON true
  WHERE queue.name NOT LIKE '\\_\\_%'`;

/** Jobs whose last sweep failed: in the tenant $1, or in any where that is null. */
export const failingSweeps = `
  SELECT DISTINCT name FROM (
    SELECT DISTINCT ON (singleton_key) data ->> 'job' AS name, state::text
    FROM pgboss.job
    WHERE name = '${tenantQueue}' AND ($1::text IS NULL OR data ->> 'tenantId' = $1)
    ORDER BY singleton_key, created_on DESC
  ) AS latest WHERE state IN ('failed', 'retry')`;
