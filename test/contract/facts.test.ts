import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { permanences } from '../../src/memory/confidence.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventTypesOf } from '../support/events.ts';
import { throughEveryDoor, type Door } from './doors.ts';

describe('a fact', () => {
  let testApp: TestApp;
  let door: Door;
  let predicates = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  /** A key that no other test uses. */
  const key = (): { subject: string; predicate: string } => ({ subject: 'user', predicate: `likes_${++predicates}` });

  async function after<T>(days: number, work: () => Promise<T>): Promise<T> {
    const before = testApp.clock.now;
    testApp.clock.now = new Date(before.getTime() + days * 86_400_000);
    try {
      return await work();
    } finally {
      testApp.clock.now = before;
    }
  }

  async function linksFrom(sourceId: string): Promise<string[]> {
    const links = await testApp.core.db.forTenant('default').client.memoryLink.findMany({ where: { sourceId } });
    return links.map(({ relation, targetId }) => `${relation} ${targetId}`).toSorted();
  }

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('starts active, at full confidence, confirmed when it was created', async () => {
      const fact = await door.storeFact({ ...key(), content: 'ramen' });

      expect(fact).toMatchObject({
        type: 'fact',
        content: 'ramen',
        validity: 'active',
        confidence: 1,
        effectiveConfidence: 1,
        permanence: 'standard',
        importance: 5,
        scope: 'global',
        kind: 'state',
        version: 1,
        tags: [],
        metadata: {},
        createdAt: '2026-03-01T12:00:00.000Z',
        lastConfirmedAt: '2026-03-01T12:00:00.000Z',
      });
      expect(await eventTypesOf(testApp, fact.id)).toEqual(['fact.stored']);
    });

    it('reads back as it was stored', async () => {
      const input = {
        ...key(),
        content: 'Lactose intolerant',
        importance: 9,
        permanence: 'permanent',
        confidence: 0.9,
        scope: 'health',
        tags: ['diet', 'medical'],
        metadata: { someKey: [1, null, 'ü'] },
        sourceButler: 'health',
      };
      const stored = await door.storeFact(input);

      expect(stored).toMatchObject(input);
      expect(await door.getMemory({ type: 'fact', id: stored.id })).toEqual(stored);
    });

    it.each([
      ['permanent', 0],
      ['stable', 0.002],
      ['standard', 0.008],
      ['volatile', 0.03],
      ['ephemeral', 0.1],
    ])('that is %s decays by %d a day', async (permanence, rate) => {
      const { id, decayRate } = await door.storeFact({ ...key(), content: 'is tired', permanence });
      const later = async (days: number): Promise<unknown> =>
        (await after(days, () => door.getMemory({ type: 'fact', id })))['effectiveConfidence'];

      expect(decayRate).toBe(rate);
      expect(await later(0)).toBe(1);
      expect(await later(Math.LN2 / (rate || 1))).toBeCloseTo(rate === 0 ? 1 : 0.5, 6);
      expect(await later(3650)).toBeCloseTo(Math.exp(-3650 * rate), 10);
    });

    it('is of a permanence that there is, and the others are told', async () => {
      const refusal = await door
        .storeFact({ ...key(), content: 'x', permanence: 'eternal' })
        .catch(({ message }: Error) => message);

      for (const permanence of permanences) expect(refusal).toContain(permanence);
    });

    it('is as sure as ever when it was confirmed in the future', async () => {
      const { id } = await after(5, () => door.storeFact({ ...key(), content: 'is tired', permanence: 'ephemeral' }));

      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ effectiveConfidence: 1 });
    });

    it('is found by its tags', async () => {
      const { predicate } = key();
      const stored = await door.storeFact({
        subject: 'user',
        predicate,
        content: 'likes miso',
        tags: [predicate, 'diet'],
      });
      const find = async (...tags: string[]): Promise<string[]> =>
        (await door.search({ query: 'miso', tags, mode: 'keyword' })).map(({ id }) => id);

      expect(await find(predicate)).toEqual([stored.id]);
      expect(await find(predicate, 'work')).toEqual([]);
    });

    it('decays at the rate of its permanence', async () => {
      const { id } = await door.storeFact({ ...key(), content: 'is tired', permanence: 'ephemeral' });
      const later = await after(10, () => door.getMemory({ type: 'fact', id }));

      expect(later['effectiveConfidence']).toBeCloseTo(Math.exp(-1), 10);
      expect(later['confidence']).toBe(1);
    });

    it('is superseded by the next of its key, and kept', async () => {
      const shared = key();
      const first = await door.storeFact({ ...shared, content: 'ramen' });
      const second = await door.storeFact({ ...shared, content: 'soba' });

      expect(second).toMatchObject({ content: 'soba', validity: 'active' });
      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({
        validity: 'superseded',
        version: 2,
      });
      expect(await eventTypesOf(testApp, first.id)).toEqual(['fact.stored', 'fact.superseded']);
    });

    it('is superseded when it fades, and not left beside the new one', async () => {
      const shared = key();
      const { id } = await door.storeFact({ ...shared, content: 'ramen' });
      await testApp.core.db
        .forTenant('default')
        .client.fact.updateMany({ where: { id }, data: { validity: 'fading' } });

      expect(await door.storeFact({ ...shared, content: 'soba' })).toMatchObject({ supersedesId: id });
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'superseded' });
    });

    it('of another scope is left alone, and the contradiction noted', async () => {
      const shared = key();
      const { id } = await door.storeFact({ ...shared, content: 'ramen' });
      const ours = await door.storeFact({ ...shared, content: 'soba', scope: 'health' });
      const same = await door.storeFact({ ...shared, content: 'ramen', scope: 'travel' });

      expect(ours).toMatchObject({ validity: 'active', supersedesId: null });
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'active', version: 1 });
      expect(await linksFrom(ours.id)).toEqual([`contradicts ${id}`]);
      expect(await linksFrom(same.id)).toEqual([`contradicts ${ours.id}`]);
    });

    it('of another source is superseded, and the contradiction noted', async () => {
      const shared = key();
      const first = await door.storeFact({ ...shared, content: 'ramen', sourceButler: 'health' });
      const second = await door.storeFact({ ...shared, content: 'soba', sourceButler: 'health' });
      const third = await door.storeFact({ ...shared, content: 'udon', sourceButler: 'travel' });

      expect(await linksFrom(second.id)).toEqual([`supersedes ${first.id}`]);
      expect(await linksFrom(third.id)).toEqual([`contradicts ${second.id}`, `supersedes ${second.id}`]);
      expect(await door.getMemory({ type: 'fact', id: second.id })).toMatchObject({ validity: 'superseded' });
    });

    it('of a moment supersedes nothing, and is not superseded', async () => {
      const shared = key();
      const state = await door.storeFact({ ...shared, content: 'ramen' });
      const event = { ...shared, kind: 'event', observedAt: new Date('2026-02-01T12:00:00.000Z') };
      const first = await door.storeFact({ ...event, content: 'ate ramen' });
      const second = await door.storeFact({ ...event, content: 'ate soba' });
      const next = await door.storeFact({ ...shared, content: 'soba' });

      expect(first).toMatchObject({ kind: 'event', observedAt: '2026-02-01T12:00:00.000Z' });
      for (const { id } of [first, second]) {
        expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'active', supersedesId: null });
        expect(await linksFrom(id)).toEqual([]);
      }
      expect(next).toMatchObject({ supersedesId: state.id });
    });

    it('is confirmed by the next of its key that says the same', async () => {
      const shared = key();
      const first = await door.storeFact({ ...shared, content: 'ramen' });
      const again = await after(3, () => door.storeFact({ ...shared, content: ' ramen ' }));

      expect(again).toMatchObject({ id: first.id, lastConfirmedAt: '2026-03-04T12:00:00.000Z' });
      expect(await eventTypesOf(testApp, first.id)).toEqual(['fact.stored', 'fact.confirmed']);
    });

    it('is stored once for one idempotency key', async () => {
      const input = { ...key(), content: 'ramen', idempotencyKey: `fact ${predicates}` };
      const first = await door.storeFact(input);

      expect(await door.storeFact(input)).toEqual(first);
      expect(await eventTypesOf(testApp, first.id)).toEqual(['fact.stored']);
      await expect(door.storeFact({ ...input, content: 'soba' })).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    it('decays anew after a confirmation', async () => {
      const { id } = await door.storeFact({ ...key(), content: 'ramen' });
      const confirmed = await after(30, () => door.confirmMemory({ type: 'fact', id }));

      expect(confirmed).toMatchObject({ effectiveConfidence: 1, lastConfirmedAt: '2026-03-31T12:00:00.000Z' });
    });

    it('is normal again at once when it was fading and is confirmed', async () => {
      const { id } = await door.storeFact({ ...key(), content: 'ramen' });
      await testApp.core.db
        .forTenant('default')
        .client.fact.updateMany({ where: { id }, data: { validity: 'fading' } });

      expect(await door.confirmMemory({ type: 'fact', id })).toMatchObject({ validity: 'active' });
    });

    it('is not confirmed once another has taken its place', async () => {
      const shared = key();
      const { id } = await door.storeFact({ ...shared, content: 'ramen' });
      await door.storeFact({ ...shared, content: 'soba' });

      await expect(door.confirmMemory({ type: 'fact', id })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
    });

    it('is asked for as forgotten, the old name of retracted', async () => {
      const { predicate, ...shared } = key();
      const { id } = await door.storeFact({ ...shared, predicate, content: `likes ${predicate}` });
      const ask = (validity: string): Promise<unknown> =>
        door.search({ subject: 'user', predicate, query: predicate, validity: [validity] });

      expect(await door.forgetMemory({ type: 'fact', id })).toMatchObject({ validity: 'retracted' });
      expect(await ask('forgotten')).toMatchObject([{ id, validity: 'retracted' }]);
      expect(await ask('active')).toEqual([]);
      await expect(ask('lost')).rejects.toMatchObject({ message: expect.stringContaining('lost') as string });
    });

    it('is retracted when it is forgotten, and active when it is restored', async () => {
      const { id } = await door.storeFact({ ...key(), content: 'ramen' });

      expect(await door.forgetMemory({ type: 'fact', id })).toMatchObject({ validity: 'retracted' });
      await expect(door.confirmMemory({ type: 'fact', id })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
      await expect(door.forgetMemory({ type: 'fact', id })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
      expect(await door.restoreMemory({ type: 'fact', id })).toMatchObject({ validity: 'active' });
      await expect(door.restoreMemory({ type: 'fact', id })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
      expect(await eventTypesOf(testApp, id)).toEqual(['fact.stored', 'fact.retracted', 'fact.restored']);
    });

    it('is not restored over the one that took its place', async () => {
      const shared = key();
      const first = await door.storeFact({ ...shared, content: 'ramen' });
      await door.forgetMemory({ type: 'fact', id: first.id });
      await door.storeFact({ ...shared, content: 'soba' });

      await expect(door.restoreMemory({ type: 'fact', id: first.id })).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    it.each([
      ['a blank subject', { subject: ' ' }, 'INVALID_INPUT'],
      ['a blank predicate', { predicate: '' }, 'INVALID_INPUT'],
      ['blank content', { content: '\0' }, 'INVALID_INPUT'],
      ['importance 11', { importance: 11 }, 'INVALID_INPUT'],
      ['confidence 1.5', { confidence: 1.5 }, 'INVALID_INPUT'],
      ['too many tags', { tags: Array.from({ length: 65 }, (_, index) => `${index}`) }, 'INVALID_INPUT'],
      ['a source that is no UUID', { sourceEpisodeId: 'first' }, 'INVALID_INPUT'],
      ['a source that is not there', { sourceEpisodeId: '00000000-0000-4000-8000-000000000000' }, 'NOT_FOUND'],
    ])('is refused with %s, and nothing is written', async (_, part, code) => {
      const input = { ...key(), content: 'x', ...part };

      await expect(door.storeFact(input)).rejects.toMatchObject({ code });
      const { predicate } = input;
      expect(await testApp.core.db.forTenant('default').client.fact.count({ where: { predicate } })).toBe(0);
    });

    it.each(['confirmMemory', 'forgetMemory', 'restoreMemory', 'getMemory'] as const)(
      'is not found by %s under an unknown id',
      async (operation) => {
        const reference = { type: 'fact', id: '00000000-0000-4000-8000-000000000000' } as const;

        await expect(door[operation](reference)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      },
    );
  });
});
