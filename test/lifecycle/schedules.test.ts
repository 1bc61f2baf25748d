import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import type { Config } from '../../src/config/schema.ts';
import { describeTroubles, readSchedules, type Schedule } from '../../src/lifecycle/schedules.ts';
import { createTestCore, type TestCore } from '../support/core.ts';

let core: TestCore;
const execute = (text: string, values: unknown[] = []): Promise<unknown> => core.db.queueQuery(text, values);

beforeAll(async () => {
  core = await createTestCore();
  await installQueue(core.db);
  for (const name of ['decay-sweep', 'sweep-tenant']) {
    await execute('SELECT pgboss.create_queue($1, $2)', [name, { policy: 'standard' }]);
  }
});
afterAll(() => core.close());
beforeEach(async () => {
  await execute('DELETE FROM pgboss.job');
  await execute('DELETE FROM pgboss.schedule');
});

/** The clock stands at noon; it is due at three in the morning. */
const scheduledSince = (day: number): Promise<unknown> =>
  execute(`INSERT INTO pgboss.schedule (name, cron, created_on) VALUES ('decay-sweep', '0 3 * * *', $1)`, [
    core.day(day),
  ]);
const ran = (state: string, day: number): Promise<unknown> =>
  execute(
    `INSERT INTO pgboss.job (name, state, created_on, started_on, completed_on) VALUES ('decay-sweep', $1, $2, $2, $2)`,
    [state, core.day(day)],
  );
const swept = (tenantId: string, state: string, day: number): Promise<unknown> =>
  execute(
    `INSERT INTO pgboss.job (name, state, created_on, data, singleton_key) VALUES ('sweep-tenant', $1, $2, $3, $4)`,
    [state, core.day(day), { job: 'decay-sweep', tenantId }, `decay-sweep/${tenantId}`],
  );

async function decaySweep(enabled = true, tenantId: string | null = null): Promise<Schedule> {
  const decay = { ...core.config.schedule.decaySweep, enabled };
  const config: Config = { ...core.config, schedule: { ...core.config.schedule, decaySweep: decay } };
  const schedules = await readSchedules({ ...core, config }, tenantId);
  return schedules.find(({ name }) => name === 'decay-sweep') as Schedule;
}

describe('a schedule', () => {
  it('waits until it is due for the first time', async () => {
    await scheduledSince(-0.1);
    expect(await decaySweep()).toEqual({
      entry: 'decay_sweep',
      name: 'decay-sweep',
      cron: '0 3 * * *',
      enabled: true,
      description: 'Run confidence decay sweep and flag fading memories',
      status: 'waiting',
      state: null,
      startedAt: null,
      completedAt: null,
      nextAt: new Date('2026-03-02T03:00:00.000Z'),
    });
  });

  it('is missed when it was due and nothing ran', async () => {
    await scheduledSince(-2);
    expect(await decaySweep()).toMatchObject({ status: 'missed' });
    await ran('completed', -1);
    expect(await decaySweep()).toMatchObject({ status: 'missed', startedAt: core.day(-1) });
  });

  it('is well when its last run was', async () => {
    await scheduledSince(-2);
    await ran('failed', -1);
    await ran('completed', -0.3);
    expect(await decaySweep()).toMatchObject({ status: 'ok', state: 'completed', completedAt: core.day(-0.3) });
  });

  it.each(['failed', 'retry'])('fails when its last run stands at %s', async (state) => {
    await scheduledSince(-2);
    await ran('completed', -1);
    await ran(state, -0.3);
    expect(await decaySweep()).toMatchObject({ status: 'failing', state });
  });

  it('fails when the sweep of some tenant did, until one goes well there', async () => {
    await scheduledSince(-2);
    await ran('completed', -0.3);
    await swept('a', 'completed', -0.3);
    await swept('b', 'failed', -0.3);
    expect(await decaySweep()).toMatchObject({ status: 'failing' });
    await swept('b', 'completed', -0.2);
    expect(await decaySweep()).toMatchObject({ status: 'ok' });
  });

  it('fails for the tenant whose sweep did, and is well for another', async () => {
    await scheduledSince(-2);
    await ran('completed', -0.3);
    await swept('a', 'completed', -0.3);
    await swept('b', 'failed', -0.3);
    expect(await decaySweep(true, 'a')).toMatchObject({ status: 'ok' });
    expect(await decaySweep(true, 'b')).toMatchObject({ status: 'failing' });
  });

  it('is shown as disabled, with no next time', async () => {
    expect(await decaySweep(false)).toMatchObject({ status: 'disabled', nextAt: null });
  });

  it('is named among the troubles when it is missed, failing or disabled', async () => {
    await scheduledSince(-2);
    expect(describeTroubles([await decaySweep(), await decaySweep(false)])).toBe(
      'decay-sweep is missed, decay-sweep is disabled',
    );
    await ran('completed', -0.3);
    expect(describeTroubles([await decaySweep()])).toBeNull();
  });

  it('is no trouble when it is disabled because people do it by hand', async () => {
    const schedules = await readSchedules(core, null);
    const rotation = schedules.filter(({ name }) => name === 'rotate-keys');
    expect(rotation).toMatchObject([{ status: 'disabled', enabled: false }]);
    expect(describeTroubles(rotation)).toBeNull();
  });
});
