import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { readTimeline, type TimelineChoice } from '../../../src/memory/history/timeline.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { forgetMemory, storeEpisode, storeFact, storeRule } from '../../support/writes.ts';

let core: TestCore;

const context = (): MemoryContext => core.context();

/** All are stored on day 0, and stand at days that differ. */
beforeAll(async () => {
  core = await createTestCore();
  await storeEpisode(context(), { content: 'lunch observed', butler: 'health', observedAt: core.day(-5) });
  await storeEpisode(context(), { content: 'lunch stored', butler: 'finance', tags: ['meal'] });
  const fact = { subject: 'user', predicate: 'food' };
  await storeFact(context(), { ...fact, content: 'ramen', validFrom: core.day(-9) });
  await storeFact(context(), { ...fact, content: 'soba', validFrom: core.day(-3), tags: ['meal'] });
  await storeFact(context(), {
    ...fact,
    kind: 'event',
    content: 'ate udon',
    observedAt: core.day(-4),
    validFrom: core.day(-8),
  });
  const forgotten = await storeFact(context(), {
    ...fact,
    predicate: 'drink',
    content: 'tea',
    validFrom: core.day(-1),
  });
  await forgetMemory(context(), { type: 'fact', id: forgotten.id });
  const expired = await storeEpisode(context(), { content: 'breakfast', butler: 'health' });
  await core.db.asOwner((client) =>
    client.query('UPDATE episodes SET expires_at = $1 WHERE id = $2', [core.day(0), expired.id]),
  );
  await core.onDay(-2, () => storeRule(context(), { content: 'ask first' }));
});
afterAll(() => core.close());

async function read(choice: TimelineChoice, page = { offset: 0, limit: 50 }): Promise<[unknown, number][]> {
  const { entries } = await readTimeline(context(), choice, page);
  return entries.map(({ at, memory }) => [memory.content, (at.getTime() - core.start.getTime()) / 86_400_000]);
}

describe('the timeline', () => {
  const whole = [
    ['lunch stored', 0],
    ['ask first', -2],
    ['soba', -3],
    ['ate udon', -4],
    ['lunch observed', -5],
    ['ramen', -9],
  ];

  it('has memories at the time of the world, the latest first, without what is gone', async () => {
    expect(await read({})).toEqual(whole);
  });

  it('has retracted facts when they are asked for, in old words too', async () => {
    expect(await read({ filter: { validity: ['forgotten'] } })).toEqual([['tea', -1]]);
    expect(await read({ types: ['fact'], filter: { validity: ['active'] } })).toEqual([
      ['soba', -3],
      ['ate udon', -4],
    ]);
  });

  it('goes from a moment, with it, to another, without it', async () => {
    expect(await read({ from: core.day(-4), to: core.day(-2) })).toEqual([
      ['soba', -3],
      ['ate udon', -4],
    ]);
    for (const to of [core.day(0), core.day(1)]) {
      await expect(read({ from: core.day(1), to })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  it('is of the types that are named, each once, or of all when they are left out', async () => {
    expect(await read({ types: ['rule', 'rule'] })).toEqual([['ask first', -2]]);
    expect(await read({ types: null })).toEqual(whole);
    await expect(read({ types: [] })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('is filtered as a list is', async () => {
    expect(await read({ filter: { tags: ['meal'] } })).toEqual([
      ['lunch stored', 0],
      ['soba', -3],
    ]);
    expect(await read({ filter: { scope: 'health' } })).toEqual(whole.slice(1));
  });

  it('comes in pages, each with the total', async () => {
    const pages = await Promise.all([0, 4, 8].map((offset) => readTimeline(context(), {}, { offset, limit: 4 })));

    expect(pages.flatMap(({ entries }) => entries.map(({ memory }) => memory.content))).toEqual(
      whole.map(([content]) => content),
    );
    expect(pages.map(({ total }) => total)).toEqual([6, 6, 6]);
  });

  it('of another tenant is empty', async () => {
    expect(await readTimeline(core.context({ tenantId: 'other' }), {}, { offset: 0, limit: 9 })).toEqual({
      entries: [],
      total: 0,
    });
  });
});
