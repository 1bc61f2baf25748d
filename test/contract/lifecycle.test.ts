import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventTypesOf } from '../support/events.ts';
import { throughEveryDoor, type Door } from './doors.ts';
import { linkMemories } from '../support/writes.ts';

/** Days after which an ephemeral fact (0.1 a day) has faded, and after which it has expired. */
const fadingAfter = 17;
const expiredAfter = 30;

describe('what the sweeps do is seen by everyone', () => {
  let testApp: TestApp;
  let door: Door;
  let keys = 0;
  const start = new Date('2026-03-01T12:00:00.000Z');

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  const goTo = (day: number): Date => (testApp.clock.now = new Date(start.getTime() + day * 86_400_000));

  async function sweep(name: string): Promise<Record<string, number>> {
    const { memory, jobs } = testApp.app.createContext();
    const run = await jobs.run(memory, { name, dryRun: false });
    expect(run).toMatchObject({ status: 'succeeded', error: null });
    return run.report as Record<string, number>;
  }

  throughEveryDoor((open) => {
    beforeEach(async () => {
      goTo(0);
      door = await open(testApp);
    });
    afterEach(() => door.close());

    const storeLunch = (content: string): ReturnType<Door['storeFact']> =>
      door.storeFact({ subject: 'user', predicate: `lunch_${++keys}`, content, permanence: 'ephemeral' });

    it('a fact that nobody confirms fades and then expires, with one event each', async () => {
      const { id } = await storeLunch('okonomiyaki');
      const reference = { type: 'fact', id } as const;
      goTo(fadingAfter);
      await sweep('decay-sweep');
      expect(await door.getMemory(reference)).toMatchObject({ validity: 'fading' });
      expect(await sweep('decay-sweep')).toMatchObject({ fading: 0, expired: 0, recovered: 0 });
      goTo(expiredAfter);
      await sweep('decay-sweep');
      expect(await door.getMemory(reference)).toMatchObject({ validity: 'expired' });
      expect(await eventTypesOf(testApp, id)).toEqual(['fact.stored', 'fact.fading', 'fact.expired']);
      expect((await door.search({ query: 'okonomiyaki' })).map((match) => match.id)).not.toContain(id);
      await expect(door.confirmMemory(reference)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
    });

    it('a confirmation lifts fading at once, and the next sweep leaves it so', async () => {
      const { id } = await storeLunch('tonkatsu');
      goTo(fadingAfter);
      await sweep('decay-sweep');
      expect(await door.confirmMemory({ type: 'fact', id })).toMatchObject({ validity: 'active' });
      await sweep('decay-sweep');
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'active' });
    });

    it('a fact at a threshold stays on its upper side', async () => {
      const store = (confidence: number): ReturnType<Door['storeFact']> =>
        door.storeFact({ subject: 'user', predicate: `lunch_${++keys}`, content: 'gyoza', confidence });
      const facts = [await store(0.2), await store(0.199_999), await store(0.05), await store(0.049_999)];
      await sweep('decay-sweep');
      const validities = await Promise.all(facts.map(({ id }) => door.getMemory({ type: 'fact', id })));

      expect(validities.map(({ validity }) => validity)).toEqual(['active', 'fading', 'fading', 'expired']);
    });

    it('a fact that was never confirmed decays from its creation, for every reader and for the sweep', async () => {
      const { id } = await storeLunch('takoyaki');
      await testApp.core.db
        .forTenant('default')
        .client.fact.updateMany({ where: { id }, data: { lastConfirmedAt: null } });
      goTo(10);
      const found = (await door.search({ query: 'takoyaki', mode: 'keyword' })).find((match) => match.id === id);

      expect((await door.getMemory({ type: 'fact', id }))['effectiveConfidence']).toBeCloseTo(Math.exp(-1), 10);
      expect(found?.['effectiveConfidence']).toBeCloseTo(Math.exp(-1), 10);
      goTo(fadingAfter);
      await sweep('decay-sweep');
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'fading' });
    });

    it('one bad row does not keep the others from fading', async () => {
      const [bad, good] = [await storeLunch('natto'), await storeLunch('tofu')];
      const where = { id: bad.id };
      await testApp.core.db.forTenant('default').client.fact.updateMany({ where, data: { version: 2_147_483_647 } });
      goTo(fadingAfter);
      const { memory, jobs } = testApp.app.createContext();
      const run = await jobs.run(memory, { name: 'decay-sweep', dryRun: false });
      await testApp.core.db.forTenant('default').client.fact.updateMany({ where, data: { version: 1 } });

      expect(run.report).toMatchObject({ failed: 1 });
      expect(await door.getMemory({ type: 'fact', id: good.id })).toMatchObject({ validity: 'fading' });
      expect(await door.getMemory({ type: 'fact', id: bad.id })).toMatchObject({ validity: 'active' });
    });

    it('a warning neither fades nor expires', async () => {
      const { id } = await door.storeRule({ content: `stack plates ${++keys}` });
      for (const reason of ['one', 'two', 'three']) await door.markRule({ ruleId: id, outcome: 'harmful', reason });
      goTo(3650);
      await sweep('decay-sweep');

      expect(await door.getMemory({ type: 'rule', id })).toMatchObject({
        validity: 'active',
        maturity: 'anti_pattern',
      });
      expect((await door.recall({ topic: `stack plates ${keys}` })).map((match) => match.id)).toContain(id);
    });

    it('a fact that was forgotten stays forgotten, whatever its confidence', async () => {
      const { id } = await storeLunch('udon');
      await door.forgetMemory({ type: 'fact', id });
      goTo(expiredAfter);
      await sweep('decay-sweep');
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'retracted' });
    });

    it('the chain of a fact that lives stays whole, however old its members are', async () => {
      const key = { subject: 'user', predicate: `city_${++keys}` };
      const first = await door.storeFact({ ...key, content: 'Lisbon', permanence: 'ephemeral' });
      const second = await door.storeFact({ ...key, content: 'Porto', permanence: 'permanent' });
      goTo(400);
      for (const name of ['decay-sweep', 'evict', 'episode-cleanup', 'purge-receipts']) await sweep(name);
      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({ validity: 'superseded' });
      expect(await door.getMemory({ type: 'fact', id: second.id })).toMatchObject({
        validity: 'active',
        content: 'Porto',
      });
    });

    it('an expired episode is kept while it waits, for its days of grace, and then goes', async () => {
      const butler = `cleaner ${++keys}`;
      const { id } = await door.storeEpisode({ content: 'The tea was cold', butler });
      const isStored = async (): Promise<boolean> =>
        (await testApp.core.db.forTenant('default').client.episode.count({ where: { id } })) === 1;
      goTo(8);
      await sweep('episode-cleanup');
      await expect(door.getMemory({ type: 'episode', id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await isStored()).toBe(true);
      goTo(15);
      await sweep('episode-cleanup');
      expect(await isStored()).toBe(false);
      expect(await eventTypesOf(testApp, id)).toEqual(['episode.stored', 'episode.expired']);
    });

    it('a consolidated episode goes when it expires; what it led to still cites it, without its words', async () => {
      const butler = `cleaner ${++keys}`;
      const { id } = await door.storeEpisode({ content: 'User said: I like matcha a lot', butler });
      const fact = await storeLunch('matcha');
      const { memory } = testApp.app.createContext();
      const ends = { source: { type: 'fact', id: fact.id }, target: { type: 'episode', id } } as const;
      await linkMemories(memory, { ...ends, relation: 'derived_from' });
      await sweep('consolidate');
      goTo(8);
      await sweep('episode-cleanup');

      const tombstone = await testApp.core.db.forTenant('default').client.episodeTombstone.findFirst({ where: { id } });
      expect(tombstone).toMatchObject({ butler, reason: 'expired' });
      expect(JSON.stringify(tombstone)).not.toContain('matcha');
      const links = await testApp.core.db.forTenant('default').client.memoryLink.findMany({ where: { targetId: id } });
      expect(links.map(({ sourceId }) => sourceId)).toContain(fact.id);
      const { episodes } = await door.stats(butler);
      expect(episodes.total).toBe(0);
    });
  });
});
