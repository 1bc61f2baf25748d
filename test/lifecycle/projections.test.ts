import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEventDays, refreshProjections } from '../../src/lifecycle/projections.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
  for (const day of [-3, -3, -1, 0]) {
    await core.onDay(day, () => storeEpisode(core.context(), { content: `day ${day}`, butler: 'home' }));
  }
  await core.onDay(-3, () => storeFact(core.context(), { subject: 'user', predicate: 'likes', content: 'tea' }));
});
afterAll(() => core.close());

const run = (dryRun = false): Promise<unknown> => refreshProjections(core.context(), { dryRun });
const counted = (): Promise<unknown[]> => core.db.forTenant('default').client.eventDay.findMany();

/** But for the registration of the model, which is an event too. */
async function read(from: number, to: number): Promise<Record<string, Record<string, number>>> {
  const days = await readEventDays(core.context(), { from: core.day(from), to: core.day(to) });
  return Object.fromEntries(
    days.map(({ day, counts }) => [
      day,
      Object.fromEntries(
        counts.filter(({ name }) => !name.startsWith('embedding_version')).map(({ name, count }) => [name, count]),
      ),
    ]),
  );
}

const expected = {
  '2026-02-26': { 'episode.stored': 2, 'fact.stored': 1 },
  '2026-02-28': { 'episode.stored': 1 },
  '2026-03-01': { 'episode.stored': 1 },
};

describe('the events of each day', () => {
  it('are counted from the events themselves before anything was prepared', async () => {
    expect(await read(-5, 0)).toEqual(expected);
  });

  it('are kept for the days that are over, by a job that a dry run foretells', async () => {
    expect(await run(true)).toEqual({ days: 2 });
    expect(await counted()).toEqual([]);
    expect(await run()).toEqual({ days: 2 });
    expect(await read(-5, 0)).toEqual(expected);
  });

  it('are not counted twice when the job runs again', async () => {
    const before = await counted();
    expect(await run(true)).toEqual({ days: 0 });
    expect(await run()).toEqual({ days: 0 });
    expect(await counted()).toEqual(before);
  });

  it('are told for the days that were asked for', async () => {
    expect(await read(-3, -2)).toEqual({ '2026-02-26': expected['2026-02-26'] });
    await core.db.forTenant('default').client.eventDay.deleteMany({ where: { eventType: 'fact.stored' } });
    expect(await read(-3, -2)).toEqual({ '2026-02-26': { 'episode.stored': 2 } });
  });

  it('are those of the tenant', async () => {
    const other = core.context({ tenantId: 'other' });
    expect(await readEventDays(other, {})).toEqual([]);
    expect(await refreshProjections(other, { dryRun: false })).toEqual({ days: 0 });
  });

  it('are refused over more than a year, backwards, and before there were any', async () => {
    const readSpan = (from: number, to: number): Promise<unknown> =>
      readEventDays(core.context(), { from: core.day(from), to: core.day(to) });
    await expect(readSpan(-400, 0)).rejects.toThrow('from must be at most 366 days before to, and not after it (got ');
    await expect(readSpan(1, 0)).rejects.toThrow('from must be at most 366 days before to');
    const ancient = new Date('0001-01-01T00:00:00Z');
    await expect(readEventDays(core.context(), { to: ancient })).rejects.toThrow(
      'to must be a time in the years 1901 to 9999',
    );
  });
});
