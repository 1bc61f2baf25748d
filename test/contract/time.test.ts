import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { expectNoDifference } from '../support/verify.ts';
import { throughEveryDoor, type Door, type View } from './doors.ts';

const day = 86_400_000;

describe('when a fact holds', () => {
  let testApp: TestApp;
  let door: Door;
  let predicates = 0;
  let predicate: string;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(async () => {
    await expectNoDifference(testApp.core);
    await testApp.close();
  });

  /** So many days from now; the past is negative. */
  const inDays = (days: number): Date => new Date(testApp.clock.now.getTime() + days * day);
  const store = (content: string, input: Partial<StoreFactInput> = {}): Promise<View> =>
    door.storeFact({ subject: 'user', predicate, content, ...input });
  const get = (id: string): Promise<View> => door.getMemory({ type: 'fact', id });
  const rows = async (): Promise<Record<string, string>> => {
    const { client } = testApp.core.db.forTenant('default');
    const facts = await client.fact.findMany({ where: { predicate } });
    return Object.fromEntries(facts.map(({ content, validity }) => [content as unknown as string, validity]));
  };

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
      predicate = `lives_in_${++predicates}`;
    });
    afterEach(() => door.close());

    describe('by the moment at which it was said', () => {
      it('is confirmed as of then, and decays from then', async () => {
        const fact = await store('Lisbon', { observedAt: inDays(-10), permanence: 'volatile' });

        expect(fact['lastConfirmedAt']).toBe(inDays(-10).toISOString());
        expect((await get(fact.id))['effectiveConfidence']).toBeCloseTo(Math.exp(-0.3), 10);
        const { text } = await door.context({ triggerPrompt: `user ${predicate} Lisbon`, butler: 'home' });
        expect(text).toMatch(/Lisbon.*volatile, confirmed 10d ago, confidence 0\.74/);
      });

      it('becomes history, with its own validity, when something later was said', async () => {
        const porto = await store('Porto', { observedAt: inDays(-5) });
        const lisbon = await store('Lisbon', { observedAt: inDays(-20) });

        expect(lisbon).toMatchObject({ validity: 'superseded', validTo: inDays(-5).toISOString(), supersedesId: null });
        expect(await get(porto.id)).toMatchObject({ validity: 'active', supersedesId: lisbon.id });
        expect(door.lastWrite?.().outcome ?? 'stored').toBe('stored');
      });

      it('is put into the chain where it belongs', async () => {
        const porto = await store('Porto', { observedAt: inDays(-5) });
        const lisbon = await store('Lisbon', { observedAt: inDays(-20) });
        const braga = await store('Braga', { observedAt: inDays(-10) });

        expect(await get(porto.id)).toMatchObject({ supersedesId: braga.id });
        expect(await get(braga.id)).toMatchObject({ supersedesId: lisbon.id, validTo: inDays(-5).toISOString() });
        expect(await get(lisbon.id)).toMatchObject({ supersedesId: null, validTo: inDays(-10).toISOString() });
      });

      it('supersedes what was said before it, and ends that when it was said', async () => {
        const lisbon = await store('Lisbon', { observedAt: inDays(-20) });
        await store('Porto', { observedAt: inDays(-5) });

        expect(await get(lisbon.id)).toMatchObject({ validity: 'superseded', validTo: inDays(-5).toISOString() });
      });

      it('does not take back a later confirmation of the same, nor stores it twice', async () => {
        const porto = await store('Porto', { observedAt: inDays(-5) });
        const again = await store('Porto', { observedAt: inDays(-20), importance: 9 });

        expect(again).toMatchObject({ id: porto.id, importance: 5, lastConfirmedAt: inDays(-5).toISOString() });
      });

      it('counts from a confirmation, which is said now', async () => {
        const lisbon = await store('Lisbon', { observedAt: inDays(-20) });
        await door.confirmMemory({ type: 'fact', id: lisbon.id });
        const porto = await store('Porto', { observedAt: inDays(-5) });

        expect(porto).toMatchObject({ validity: 'superseded' });
        expect(await get(lisbon.id)).toMatchObject({ validity: 'active' });
      });

      it('is forgotten when the storing of history is undone, and the chain is as before', async () => {
        const porto = await store('Porto', { observedAt: inDays(-5) });
        const lisbon = await store('Lisbon', { observedAt: inDays(-20) });
        const eventId = door.lastEventId?.();
        if (typeof eventId !== 'string') return;
        await door.undo({ eventId });

        expect(await get(lisbon.id)).toMatchObject({ validity: 'retracted' });
        expect(await get(porto.id)).toMatchObject({ validity: 'active', supersedesId: null });
      });
    });

    describe('by its valid time', () => {
      it('stands beside what holds today while its day has yet to come', async () => {
        const lisbon = await store('Lisbon');
        const porto = await store('Porto', { validFrom: inDays(900) });

        expect(porto).toMatchObject({ validity: 'active', supersedesId: null });
        expect(await get(lisbon.id)).toMatchObject({ validity: 'active', validTo: null });
      });

      it('gives way to what is said later about the same day to come', async () => {
        await store('Porto', { validFrom: inDays(900) });
        await store('Braga', { validFrom: inDays(900) });

        expect(await rows()).toEqual({ Porto: 'superseded', Braga: 'active' });
      });

      it('is history when it has ended, and supersedes nothing', async () => {
        const now = await store('Initech');
        const before = await store('Globex', { validFrom: inDays(-900), validTo: inDays(-300) });

        expect(before).toMatchObject({ validity: 'superseded', validTo: inDays(-300).toISOString() });
        expect(await get(now.id)).toMatchObject({ validity: 'active', content: 'Initech' });
      });

      it('is expired from the start when it has ended and nothing came after it', async () => {
        expect(await store('Globex', { validTo: inDays(-300) })).toMatchObject({ validity: 'expired' });
      });

      it('is found at the date at which it held, or will hold', async () => {
        const at = async (days: number): Promise<string[]> => {
          const found = await door.search({ query: predicate, types: ['fact'], validAt: inDays(days) });
          return found.flatMap((one) => (one['predicate'] === predicate ? [one.content as string] : []));
        };
        await store('Lisbon', { observedAt: inDays(-400) });
        await store('Porto', { observedAt: inDays(-100) });
        await store('Braga', { validFrom: inDays(900) });

        expect(await Promise.all([-500, -200, 0, 1000].map(at))).toEqual([[], ['Lisbon'], ['Porto'], ['Braga']]);
      });

      it('stands in for an open-ended one, which stays', async () => {
        const ada = await store('Ada');
        const bo = await store('Bo', { validTo: inDays(30) });

        expect(bo).toMatchObject({ validity: 'active', supersedesId: ada.id });
        expect(await get(ada.id)).toMatchObject({ validity: 'active', validTo: null });
      });

      it('brings back what it stood in for when its storing is undone', async () => {
        const ada = await store('Ada');
        const bo = await store('Bo', { validTo: inDays(30) });
        const eventId = door.lastEventId?.();
        if (typeof eventId !== 'string') return;
        await door.undo({ eventId });

        expect(await rows()).toEqual({ Ada: 'active', Bo: 'retracted' });
        expect(await get(ada.id)).toMatchObject({ version: 3 });
        expect(await get(bo.id)).toMatchObject({ validity: 'retracted' });
      });
    });
  });
});
