import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listReviews } from '../../../src/memory/reviews/reviews.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { eventTypesOf } from '../../support/events.ts';
import { storeNote } from '../../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();

describe('a note', () => {
  it('is for eden an episode of the butler that asks, or else of the one that the server is named for', async () => {
    const note = { content: ' had  lunch ', tags: ['meal'], tier: 'eden' } as const;

    expect(await storeNote(core.context({ butler: 'health', role: 'butler' }), note)).toMatchObject({
      butler: 'health',
      content: 'had lunch',
      tags: ['meal'],
    });
    expect(await storeNote(context(), note)).toMatchObject({ butler: core.config.butler.name });
  });

  it('is a fact that fades for mid and one that lasts for long', async () => {
    expect(await storeNote(context(), { content: 'likes tea', tier: 'mid', tags: ['a'] })).toMatchObject({
      subject: 'note',
      predicate: expect.stringMatching(/^note_[0-9a-f]{16}$/),
      content: 'likes tea',
      permanence: 'standard',
      scope: 'global',
      tags: ['a'],
    });
    expect(await storeNote(context(), { content: 'likes coffee', tier: 'long' })).toMatchObject({
      permanence: 'stable',
    });
  });

  it('confirms the same note, and supersedes no other that begins with the same words', async () => {
    const words = 'the user told us at noon that';
    const first = await storeNote(context(), { content: `${words} it rains`, tier: 'mid' });
    const other = await storeNote(context(), { content: `${words} it snows`, tier: 'mid' });
    const again = await core.onDay(1, () => storeNote(context(), { content: `${words}  it rains`, tier: 'mid' }));

    expect(other.id).not.toBe(first.id);
    expect(again).toMatchObject({ id: first.id, validity: 'active', lastConfirmedAt: core.day(1) });
    expect(await eventTypesOf({ core }, first.id)).toEqual(['fact.stored', 'fact.confirmed']);
  });

  it('is reviewed with a note of the same scope that looks like it, unless it replaces that one', async () => {
    const tenant = { tenantId: 'reviews of notes' };
    const store = (content: string, supersedes?: string): Promise<{ id: string }> =>
      storeNote(core.context(tenant), { content, supersedes });
    const first = await store('The code of the garage door is 4711');
    await store('The bakery closes on Mondays');
    const second = await store('The code of the garage door is 5822');
    const { reviews } = await listReviews(core.context(tenant), {}, { offset: 0, limit: 10 });
    expect(reviews).toMatchObject([{ kind: 'same_thing', newerId: second.id, olderId: first.id }]);

    await store('The code of the garage door is 6933', second.id);
    const open = await listReviews(core.context(tenant), {}, { offset: 0, limit: 10 });
    expect(open.reviews).toEqual([]);
  });

  it('becomes another generation when it is stored again for that one', async () => {
    const first = await storeNote(context(), { content: 'likes cake', tier: 'mid' });

    expect(await storeNote(context(), { content: 'likes cake', tier: 'long' })).toMatchObject({
      id: first.id,
      permanence: 'stable',
    });
  });

  it('may be of any words, long, of no letters or beyond the basic plane', async () => {
    for (const content of ['!?', `${'x'.repeat(300)} ${'y'.repeat(300)}`, '𝒜'.repeat(400), `a${'𠮷'.repeat(30)} b`]) {
      expect(await storeNote(context(), { content, tier: 'mid' })).toMatchObject({ content });
    }
  });

  it('is stored once for one idempotency key', async () => {
    for (const tier of ['eden', 'long'] as const) {
      const note = { content: `once for ${tier}`, tier, idempotencyKey: `once ${tier}` };
      const first = await storeNote(context(), note);
      expect((await storeNote(context(), note)).id).toBe(first.id);
      await expect(storeNote(context(), { ...note, content: 'else' })).rejects.toMatchObject({ code: 'CONFLICT' });
    }
  });

  it('is refused when it is blank', async () => {
    for (const tier of ['eden', 'mid', 'long'] as const) {
      await expect(storeNote(context(), { content: ' \n ', tier })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
  });
});
