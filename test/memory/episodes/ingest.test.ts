import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { batchLimit, type StoreEpisodeInput } from '../../../src/memory/episodes/episodes.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { eventTypesOf } from '../../support/events.ts';
import { ingestEpisodes, storeEpisode } from '../../support/writes.ts';

let core: TestCore;
let keys = 0;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();
const newKey = (): string => `key ${++keys}`;
const episodes = (count: number, more: Partial<StoreEpisodeInput> = {}): StoreEpisodeInput[] =>
  Array.from({ length: count }, (_, place) => ({ content: `text ${place}`, butler: 'health', ...more }));
const ingest = async (inputs: StoreEpisodeInput[]): Promise<string[]> =>
  (await ingestEpisodes(context(), inputs)).map(({ id }) => id);
const countRows = (): Promise<number[]> =>
  core.db
    .forTenant('default')
    .transaction(async (transaction) => [
      await transaction.episode.count(),
      await transaction.memoryEvent.count(),
      await transaction.idempotencyKey.count(),
    ]);

describe('a batch of episodes', () => {
  it('comes back in its order, each stored with a vector and an event', async () => {
    const sessionId = '00000000-0000-4000-8000-000000000001';
    const stored = await ingestEpisodes(context(), [
      { content: ' b ', butler: 'health', importance: 9, tags: ['x'], sessionId, observedAt: core.day(-1) },
      { content: 'a', butler: 'finance' },
      { content: 'b', butler: 'health' },
    ]);

    expect(stored.map(({ content, butler }) => [content, butler])).toEqual([
      ['b', 'health'],
      ['a', 'finance'],
      ['b', 'health'],
    ]);
    expect(stored[0]).toMatchObject({ importance: 9, tags: ['x'], sessionId, observedAt: core.day(-1) });
    expect(new Set(stored.map(({ id }) => id)).size).toBe(3);
    for (const { id, embeddingVersionId } of stored) {
      expect(embeddingVersionId).not.toBeNull();
      expect(await eventTypesOf({ core }, id)).toEqual(['episode.stored']);
    }
  });

  it('is refused as a whole when one is, naming its place', async () => {
    const before = await countRows();
    const cases: [StoreEpisodeInput, RegExp][] = [
      [{ content: ' ', butler: 'health' }, /^episodes\[2\]\.content must be text that is not blank \(got " "/],
      [{ content: 'a', butler: '' }, /^episodes\[2\]\.butler must be /],
      [{ content: 'a', butler: 'health', importance: 11 }, /^episodes\[2\]\.importance must be /],
      [{ content: 'a', butler: 'health', sessionId: 'x' }, /^episodes\[2\]\.session_id must be /],
      [{ content: 'a', butler: 'health', tags: [' '] }, /^episodes\[2\]\.tags must be /],
      [{ content: 'a', butler: 'health', observedAt: new Date(NaN) }, /^episodes\[2\]\.observed_at must be /],
      [{ content: 'a', butler: 'health', idempotencyKey: ' ' }, /^episodes\[2\]\.idempotency_key must be /],
    ];
    for (const [wrong, message] of cases) {
      await expect(ingest([...episodes(2), wrong, ...episodes(1)])).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(message),
      });
    }
    expect(await countRows()).toEqual(before);
  });

  it('has at least one and at most so many', async () => {
    for (const count of [0, batchLimit + 1]) {
      await expect(ingest(episodes(count))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: `episodes must be 1 to ${batchLimit} episodes (got ${count})`,
      });
    }
    const [before = 0] = await countRows();
    expect(new Set(await ingest(episodes(batchLimit, { butler: 'bulk' }))).size).toBe(batchLimit);
    expect((await countRows())[0]).toBe(before + batchLimit);
  });
});

describe('an idempotency key within a batch', () => {
  it('gives the same episode again, beside new ones and through the single door', async () => {
    const [first, second] = [newKey(), newKey()];
    const inputs = [
      { content: 'one', butler: 'health', idempotencyKey: first },
      { content: 'two', butler: 'health', idempotencyKey: second },
    ];
    const ids = await ingest(inputs);
    const [, events] = await countRows();

    expect(await ingest(inputs)).toEqual(ids);
    expect((await countRows())[1]).toBe(events);
    const [fresh, ...known] = await ingest([{ content: 'three', butler: 'health' }, ...inputs.toReversed()]);
    expect(known).toEqual(ids.toReversed());
    expect(ids).not.toContain(fresh);
    expect((await storeEpisode(context(), inputs[0] as StoreEpisodeInput)).id).toBe(ids[0]);
  });

  it('refuses other input, and the whole batch with it', async () => {
    const key = newKey();
    await ingest([{ content: 'one', butler: 'health', idempotencyKey: key }]);
    const before = await countRows();

    await expect(
      ingest([...episodes(1), { content: 'other', butler: 'health', idempotencyKey: key }]),
    ).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/^episodes\[1\]\.idempotency_key must be /),
      hint: expect.stringContaining('new key'),
    });
    expect(await countRows()).toEqual(before);
  });

  it('twice is one episode, and two texts under one key are refused', async () => {
    const idempotencyKey = newKey();
    const [one, two] = await ingest(
      episodes(2).map((episode) => ({ ...episode, content: 'the same', idempotencyKey })),
    );

    expect(two).toBe(one);
    await expect(ingest(episodes(2, { idempotencyKey: newKey() }))).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('holds for batches that are sent at the same time', async () => {
    const inputs = [newKey(), newKey(), newKey()].map((idempotencyKey) => ({ ...episodes(1)[0], idempotencyKey }));
    const answers = await Promise.all([1, 2, 3, 4].map(() => ingest(inputs as StoreEpisodeInput[])));

    expect(new Set(answers.map((ids) => ids.join())).size).toBe(1);
  });
});
