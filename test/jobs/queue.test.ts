import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { installQueue, startQueue, type Queue } from '../../jobs/queue.ts';
import type { Config } from '../../src/config/schema.ts';
import { maintainStorage } from '../../src/lifecycle/storage.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testEngine } from '../support/database.ts';

describe('the job queue', () => {
  let testApp: TestApp;
  let queue: Queue | undefined;

  beforeAll(async () => {
    testApp = await createTestApp();
    await installQueue(testApp.core.db);
  });
  afterEach(async () => {
    await queue?.stop();
    queue = undefined;
  });
  afterAll(() => testApp.close());

  const start = async (enabled: boolean): Promise<Queue> => {
    const { core } = testApp;
    const maintenance = { ...core.config.schedule.maintainStorage, enabled };
    const config: Config = { ...core.config, schedule: { ...core.config.schedule, maintainStorage: maintenance } };
    return startQueue({ ...core, config });
  };

  const listSchedules = async (): Promise<unknown[]> => {
    const { rows } = await testApp.core.db.queueQuery('SELECT name, cron, timezone FROM pgboss.schedule ORDER BY name');
    return rows;
  };

  it('has every job on its schedule, in UTC', async () => {
    queue = await start(true);

    expect(await listSchedules()).toEqual([{ name: 'maintain-storage', cron: '30 4 * * *', timezone: 'UTC' }]);
    await expect(queue.check()).resolves.toBeUndefined();
  });

  it('takes a job off its schedule when it is disabled, and puts it back when it is enabled', async () => {
    queue = await start(false);
    expect(await listSchedules()).toEqual([]);
    await queue.stop();
    queue = await start(true);
    expect(await listSchedules()).toHaveLength(1);
  });

  it('is installed a second time without a change', async () => {
    await expect(installQueue(testApp.core.db)).resolves.toBeUndefined();
  });

  it('works as a role that sees no memory', async () => {
    await expect(testApp.core.db.queueQuery('SELECT content FROM episodes')).rejects.toThrow(/permission denied/);
  });
});

describe('storage maintenance', () => {
  let testApp: TestApp;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  it.runIf(testEngine === 'pglite')('checkpoints the embedded database, whose log would only grow', async () => {
    const lastCheckpoint = async (): Promise<unknown> => {
      const { rows } = await testApp.core.db.asOwner((client) =>
        client.query('SELECT checkpoint_lsn FROM pg_control_checkpoint()'),
      );
      return rows[0];
    };
    const before = await lastCheckpoint();
    const report = await maintainStorage(testApp.core.db);

    expect(report.statements).toEqual(['VACUUM', 'ANALYZE', 'CHECKPOINT']);
    expect(await lastCheckpoint()).not.toEqual(before);
  });

  it.runIf(testEngine === 'postgres')('leaves a server to look after itself, but for its statistics', async () => {
    expect(await maintainStorage(testApp.core.db)).toEqual({ statements: ['ANALYZE'] });
  });
});
