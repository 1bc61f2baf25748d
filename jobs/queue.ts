import { PgBoss, type ConstructorOptions } from 'pg-boss';
import type { Database } from '../src/db/database.ts';
import { jobs } from './jobs.ts';
import type { Job, JobContext } from './job.ts';

const schema = 'pgboss';

export interface Queue {
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
  try {
    await boss.start();
    for (const job of jobs) await startJob(boss, job, context);
  } catch (error) {
    // Its timers would keep the process from ending.
    await boss.stop({ graceful: false });
    throw error;
  }
  return {
    check: async () => {
      await boss.getQueues(jobs.map(({ name }) => name));
    },
    stop: () => boss.stop({ graceful: true, timeout: config.butler.shutdownGraceSeconds * 1000 }),
  };
}

async function startJob(boss: PgBoss, job: Job, context: JobContext): Promise<void> {
  const logger = context.logger.child({ job: job.name });
  await boss.createQueue(job.name, { policy: 'singleton', retryLimit: 3, retryBackoff: true });
  await boss.work(job.name, () => job.run({ ...context, logger }));
  await applySchedule(boss, job.name, context.config.schedule[job.schedule]);
}

/** A run that came due while no server was up is made up for once. */
async function applySchedule(boss: PgBoss, name: string, entry: { cron: string; enabled: boolean }): Promise<void> {
  if (entry.enabled) await boss.schedule(name, entry.cron, null, { tz: 'UTC', missed: 'once' });
  else await boss.unschedule(name);
}

function optionsFor(database: Database): Pick<ConstructorOptions, 'schema' | 'backend'> {
  return { schema, backend: database.engine };
}
