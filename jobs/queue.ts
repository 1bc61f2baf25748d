import { setTimeout as wait } from 'node:timers/promises';
import { PgBoss, type ConstructorOptions } from 'pg-boss';
import type { Database } from '../src/db/database.ts';
import { tenantQueue } from '../src/db/sql/queue-runs.ts';
import { recordRun } from '../src/lifecycle/job-runs.ts';
import { toCamelCase } from '../src/shared/names.ts';
import { contextOfTenant, type Job, type JobContext, type TenantJob } from './job.ts';
import { jobs } from './jobs.ts';

const schema = 'pgboss';

export interface Queue {
  /** Asks for a tenant's job to be done soon. One that is waiting or under way already is not asked for twice. */
  request(name: string, tenantId: string): Promise<void>;
  /** Rejects when the queue cannot take or give work. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates or upgrades the queue's tables as their owner, and lets the server's role work with them. */
export async function installQueue(database: Database): Promise<void> {
  await database.asOwner(async (client) => {
    const boss = new PgBoss({
      ...optionsFor(database),
      db: { executeSql: (text, values) => client.query(text, values) },
      migrate: true,
      supervise: false,
      schedule: false,
    });
    await boss.start();
    await boss.stop({ graceful: false });
    await client.query(`
      GRANT USAGE ON SCHEMA ${schema} TO butler_memory_maintenance;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO butler_memory_maintenance;
      GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO butler_memory_maintenance;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO butler_memory_maintenance`);
  });
}

export async function startQueue(context: JobContext): Promise<Queue> {
  const { db, logger, config } = context;
  const boss = new PgBoss({
    ...optionsFor(db),
    db: { executeSql: (text, values) => db.queueQuery(text, values) },
    migrate: false,
    createSchema: false,
    // Rebuilding an index takes its owner, which the server is not.
    reindex: false,
  });
  boss.on('error', (error) => logger.error({ err: error }, 'job queue error'));
  const stopping = new AbortController();
  try {
    await boss.start();
    await startSweeping(boss, context, stopping.signal);
    for (const job of jobs) await startJob(boss, job, context, stopping.signal);
  } catch (error) {
    // Its timers would keep the process from ending.
    await boss.stop({ graceful: false });
    throw error;
  }
  return {
    request: (name, tenantId) => requestSweeps(boss, name, [tenantId]),
    check: async () => {
      await boss.getQueues(jobs.map(({ name }) => name));
    },
    stop: async () => {
      // A sweep ends after the batch it is at; the next run goes on from there.
      stopping.abort();
      await boss.stop({ graceful: true, timeout: config.butler.shutdownGraceSeconds * 1000 });
    },
  };
}

/** A worker whose process died is noticed after so long, and its job is given to another. */
const heartbeatSeconds = 60;

/** Hours: a first consolidation of much, or the vectors of a new model, take their time. */
const longestRunSeconds = 24 * 3600;

interface TenantWork {
  job: string;
  tenantId: string;
}

async function startSweeping(boss: PgBoss, context: JobContext, stopping: AbortSignal): Promise<void> {
  await boss.createQueue(tenantQueue, {
    // At most one that waits or works for each key: a job in a tenant.
    policy: 'exclusive',
    retryLimit: 3,
    retryBackoff: true,
    retryDelay: 30,
    heartbeatSeconds,
    expireInSeconds: longestRunSeconds,
    deleteAfterSeconds: 2 * 24 * 3600,
  });
  const workers = { localConcurrency: context.config.butler.jobWorkers };
  await boss.work<TenantWork>(tenantQueue, workers, async ([work]) => {
    if (work === undefined) return;
    const job = jobs.find(({ name }) => name === work.data.job);
    // Left over from another version.
    if (job?.for !== 'tenant') return;
    await sweepTenant(context, job, work.data.tenantId, AbortSignal.any([work.signal, stopping]));
  });
}

async function sweepTenant(
  context: JobContext,
  job: TenantJob,
  tenantId: string,
  signal: AbortSignal,
): Promise<unknown> {
  const logger = context.logger.child({ job: job.name, tenantId });
  const tenantContext = contextOfTenant({ ...context, logger }, tenantId);
  const run = await recordRun({ ...tenantContext, actor: 'schedule' }, job, {
    dryRun: false,
    startedBy: 'schedule',
    signal,
    rest: (workedMs) => rest(workedMs, signal),
  });
  if (run.status === 'failed') throw new Error(`${job.name}: ${run.error}`);
  logger.info({ report: run.report }, 'job done');
  return run.report;
}

/** So that callers have three quarters of the time at least. On a busy machine work takes longer, and so does the rest. */
const restPerWork = 3;
/** Who works for longer has waited for others, such as a model. */
const mostRestMs = 3000;

async function rest(workedMs: number, signal: AbortSignal): Promise<void> {
  const ended = wait(Math.min(workedMs * restPerWork, mostRestMs), undefined, { signal });
  await ended.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function startJob(boss: PgBoss, job: Job, context: JobContext, stopping: AbortSignal): Promise<void> {
  const logger = context.logger.child({ job: job.name });
  await boss.createQueue(job.name, { policy: 'singleton', retryLimit: 3, retryBackoff: true });
  await boss.work(job.name, async () => {
    if (job.for === 'tenant') return requestSweeps(boss, job.name, await context.db.listTenants());
    const request = (name: string, tenantId: string): Promise<void> => requestSweeps(boss, name, [tenantId]);
    const report = await job.run({ ...context, logger }, { dryRun: false, signal: stopping, request });
    logger.info({ report }, 'job done');
  });
  await applySchedule(boss, job.name, scheduleOf(job, context));
}

function scheduleOf({ name }: Job, { config }: JobContext): { cron: string; enabled: boolean } {
  const entry = toCamelCase(name.replaceAll('-', '_')) as keyof typeof config.schedule;
  return config.schedule[entry];
}

async function requestSweeps(boss: PgBoss, job: string, tenantIds: readonly string[]): Promise<void> {
  const work = tenantIds.map((tenantId) => ({ data: { job, tenantId }, singletonKey: `${job}/${tenantId}` }));
  for (let from = 0; from < work.length; from += insertLimit) {
    await boss.insert(tenantQueue, work.slice(from, from + insertLimit));
  }
}

/** Rows of one statement. */
const insertLimit = 1000;

/** A run that came due while no server was up is made up for once. */
async function applySchedule(boss: PgBoss, name: string, entry: { cron: string; enabled: boolean }): Promise<void> {
  if (entry.enabled) await boss.schedule(name, entry.cron, null, { tz: 'UTC', missed: 'once' });
  else await boss.unschedule(name);
}

function optionsFor(database: Database): Pick<ConstructorOptions, 'schema' | 'backend'> {
  return { schema, backend: database.engine };
}
