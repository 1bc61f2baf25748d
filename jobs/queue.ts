import { setTimeout as wait } from 'node:timers/promises';
import { PgBoss, type ConstructorOptions } from 'pg-boss';
import type { Database } from '../src/db/database.ts';
import { tenantQueue } from '../src/db/queries/scheduled-runs.ts';
import { recordRun } from '../src/lifecycle/job-runs.ts';
import { createTenantContext, type ServerContext } from '../src/memory/context.ts';
import { toCamelCase } from '../src/shared/names.ts';
import { jobs, type Job, type TenantJob } from './jobs.ts';

const schema = 'pgboss';

export interface Queue {
  /** Queues a job of one tenant, unless it is queued or running already. */
  request(name: string, tenantId: string): Promise<void>;
  /** Rejects when the queue's tables cannot be read. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates or upgrades the queue's tables as their owner, and grants the server's role their use. */
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

export async function startQueue(context: ServerContext): Promise<Queue> {
  const { db, logger, config } = context;
  const boss = new PgBoss({
    ...optionsFor(db),
    db: { executeSql: (text, values) => db.queueQuery(text, values) },
    migrate: false,
    createSchema: false,
    // Only an index's owner may rebuild it, and the server's role is not.
    reindex: false,
  });
  boss.on('error', (error) => logger.error({ err: error }, 'job queue error'));
  const stopping = new AbortController();
  try {
    await boss.start();
    await startSweeping(boss, context, stopping.signal);
    for (const job of jobs) await startJob(boss, job, context, stopping.signal);
  } catch (error) {
    // Timers of the queue would keep the process alive.
    await boss.stop({ graceful: false });
    throw error;
  }
  return {
    request: (name, tenantId) => requestSweeps(boss, name, [tenantId]),
    check: async () => {
      await boss.getQueues(jobs.map(({ name }) => name));
    },
    stop: async () => {
      // A sweep ends after its current batch; the next run continues from there.
      stopping.abort();
      await boss.stop({ graceful: true, timeout: config.butler.shutdownGraceSeconds * 1000 });
    },
  };
}

/** A job whose worker missed its heartbeats for this long is given to another worker. */
const heartbeatSeconds = 60;

/** A first consolidation of a large backlog, or re-embedding for a new model, takes hours. */
const longestRunSeconds = 24 * 3600;

interface TenantWork {
  job: string;
  tenantId: string;
}

async function startSweeping(boss: PgBoss, context: ServerContext, stopping: AbortSignal): Promise<void> {
  await boss.createQueue(tenantQueue, {
    // At most one queued or running job for each singleton key: a job of a tenant.
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
    // Queued by another version of the server.
    if (job?.for !== 'tenant') return;
    await sweepTenant(context, job, work.data.tenantId, AbortSignal.any([work.signal, stopping]));
  });
}

async function sweepTenant(
  context: ServerContext,
  job: TenantJob,
  tenantId: string,
  signal: AbortSignal,
): Promise<void> {
  const logger = context.logger.child({ job: job.name, tenantId });
  const tenantContext = createTenantContext({ ...context, logger }, tenantId);
  const run = await recordRun({ ...tenantContext, actor: 'schedule' }, job, {
    dryRun: false,
    startedBy: 'schedule',
    signal,
    rest: (workedMs) => rest(workedMs, signal),
  });
  if (run.status === 'failed') throw new Error(`${job.name}: ${run.error}`);
  logger.info({ report: run.report }, 'job done');
}

/** Pauses three times as long as the batch took, so that callers get three quarters of the time. */
const restPerWork = 3;
/** A batch that took longer than a second was waiting for something else, such as a model. */
const mostRestMs = 3000;

async function rest(workedMs: number, signal: AbortSignal): Promise<void> {
  const ended = wait(Math.min(workedMs * restPerWork, mostRestMs), undefined, { signal });
  await ended.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function startJob(boss: PgBoss, job: Job, context: ServerContext, stopping: AbortSignal): Promise<void> {
  const logger = context.logger.child({ job: job.name });
  await boss.createQueue(job.name, { policy: 'singleton', retryLimit: 3, retryBackoff: true });
  await boss.work(job.name, async () => {
    if (job.for === 'tenant') return requestSweeps(boss, job.name, await context.db.listTenants());
    const request = (name: string, tenantId: string): Promise<void> => requestSweeps(boss, name, [tenantId]);
    const report = await job.sweep({ ...context, logger }, { dryRun: false, signal: stopping, request });
    logger.info({ report }, 'job done');
  });
  await applySchedule(boss, job.name, findSchedule(job, context));
}

function findSchedule({ name }: Job, { config }: ServerContext): { cron: string; enabled: boolean } {
  const entry = toCamelCase(name.replaceAll('-', '_')) as keyof typeof config.schedule;
  return config.schedule[entry];
}

async function requestSweeps(boss: PgBoss, job: string, tenantIds: readonly string[]): Promise<void> {
  const work = tenantIds.map((tenantId) => ({ data: { job, tenantId }, singletonKey: `${job}/${tenantId}` }));
  for (let from = 0; from < work.length; from += insertLimit) {
    await boss.insert(tenantQueue, work.slice(from, from + insertLimit));
  }
}

/** Rows per INSERT. */
const insertLimit = 1000;

/** Registers or removes the schedule. A run that was missed while no server was up is made up for once. */
async function applySchedule(boss: PgBoss, name: string, entry: { cron: string; enabled: boolean }): Promise<void> {
  if (entry.enabled) await boss.schedule(name, entry.cron, null, { tz: 'UTC', missed: 'once' });
  else await boss.unschedule(name);
}

function optionsFor(database: Database): Pick<ConstructorOptions, 'schema' | 'backend'> {
  return { schema, backend: database.engine };
}
