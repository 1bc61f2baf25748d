import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { jobs } from '../../jobs/jobs.ts';
import { installQueue, startQueue, type Queue } from '../../jobs/queue.ts';
import type { Config } from '../../src/config/schema.ts';
import { toJobName } from '../../src/lifecycle/schedules.ts';
import { maintainStorage } from '../../src/lifecycle/housekeeping.ts';
import { toSnakeCase } from '../../src/shared/names.ts';
import { testConfig } from '../support/config.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { testEngine } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { storeEpisode } from '../support/writes.ts';

let core: TestCore;

describe('the jobs', () => {
  it('are those of [butler.schedule], no more and no fewer', () => {
    const { schedule } = testConfig();
    const entries = Object.keys(schedule).map((key) => toJobName(toSnakeCase(key)));
    expect(jobs.map(({ name }) => name).toSorted()).toEqual(entries.toSorted());
  });
});

describe('the job queue', () => {
  let queue: Queue | undefined;

  beforeAll(async () => {
    core = await createTestCore();
    await installQueue(core.db);
  });
  afterEach(async () => {
    await queue?.stop();
    queue = undefined;
  });
  afterAll(() => core.close());

  const start = async (enabled: boolean): Promise<Queue> => {
    const maintenance = { ...core.config.schedule.maintainStorage, enabled };
    const config: Config = { ...core.config, schedule: { ...core.config.schedule, maintainStorage: maintenance } };
    return startQueue({ ...core, config });
  };

  const listSchedules = async (): Promise<{ name: string; cron: string; timezone: string }[]> => {
    const { rows } = await core.db.queueQuery('SELECT name, cron, timezone FROM pgboss.schedule ORDER BY name');
    return rows as { name: string; cron: string; timezone: string }[];
  };

  it('has every job on its schedule, in UTC, but for what is done by hand', async () => {
    queue = await start(true);

    const schedules = await listSchedules();
    const names = jobs.map(({ name }) => name).filter((name) => name !== 'rotate-keys');
    expect(schedules.map(({ name }) => name)).toEqual(names.toSorted());
    expect(schedules).toContainEqual({ name: 'maintain-storage', cron: '30 4 * * *', timezone: 'UTC' });
    await expect(queue.check()).resolves.toBeUndefined();
  });

  it('takes a job off its schedule when it is disabled, and puts it back when it is enabled', async () => {
    queue = await start(false);
    expect((await listSchedules()).map(({ name }) => name)).not.toContain('maintain-storage');
    await queue.stop();
    queue = await start(true);
    expect((await listSchedules()).map(({ name }) => name)).toContain('maintain-storage');
  });

  it('sweeps every tenant when a job is due, and the runs are kept in each', async () => {
    for (const tenantId of ['a', 'b']) {
      await core.onDay(-2, () => storeEpisode(core.context({ tenantId }), { content: 'tea', butler: 'home' }));
    }
    queue = await start(true);
    await core.db.queueQuery(`INSERT INTO pgboss.job (name) VALUES ('refresh-projections')`);

    for (const tenantId of ['a', 'b']) {
      const run = await eventually(() =>
        core.db
          .forTenant(tenantId)
          .client.jobRun.findFirstOrThrow({ where: { job: 'refresh-projections', status: 'succeeded' } }),
      );
      expect(run).toMatchObject({ startedBy: 'schedule', actor: 'schedule', report: { days: 1 } });
    }
  });

  it('does not take the same work twice while it waits', async () => {
    queue = await start(true);
    const started = queue;
    await Promise.all([1, 2, 3].map(() => started.request('refresh-projections', 'nobody')));
    const { rows } = await core.db.queueQuery(
      `SELECT count(*)::int AS count FROM pgboss.job WHERE singleton_key = 'refresh-projections/nobody'`,
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('is installed a second time without a change', async () => {
    await expect(installQueue(core.db)).resolves.toBeUndefined();
  });

  it('works as a role that sees no memory', async () => {
    await expect(core.db.queueQuery('SELECT content FROM episodes')).rejects.toThrow(/permission denied/);
  });
});

describe('storage maintenance', () => {
  beforeAll(async () => {
    core = await createTestCore();
  });
  afterAll(() => core.close());

  it.runIf(testEngine === 'pglite')('checkpoints the embedded database, whose log would only grow', async () => {
    const lastCheckpoint = async (): Promise<unknown> => {
      const { rows } = await core.db.asOwner((client) =>
        client.query('SELECT checkpoint_lsn FROM pg_control_checkpoint()'),
      );
      return rows[0];
    };
    const before = await lastCheckpoint();
    expect(await maintainStorage(core.db, true)).toEqual({ statements: 3 });
    expect(await lastCheckpoint()).toEqual(before);
    expect(await maintainStorage(core.db, false)).toEqual({ statements: 3 });
    expect(await lastCheckpoint()).not.toEqual(before);
  });

  it.runIf(testEngine === 'postgres')('leaves a server to look after itself, but for its statistics', async () => {
    expect(await maintainStorage(core.db, false)).toEqual({ statements: 1 });
  });
});
