import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepCapacity } from '../../src/lifecycle/eviction.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { expectNoDifference } from '../support/verify.ts';
import { throughEveryDoor, type Door, type View } from './doors.ts';

describe('a fact beyond the capacity of its butler', () => {
  let testApp: TestApp;
  let door: Door;
  let start: Date;

  beforeAll(async () => {
    const config = testConfig();
    const { memory } = config;
    testApp = await createTestApp({ ...config, memory: { ...memory, mid: { ...memory.mid, maxEntries: 1 } } });
    start = testApp.clock.now;
  });
  afterAll(() => testApp.close());

  async function sweepAfter(days: number): Promise<void> {
    testApp.clock.now = new Date(start.getTime() + days * 86_400_000);
    await sweepCapacity(testApp.app.createContext().memory, { dryRun: false });
    testApp.clock.now = start;
  }

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('goes only if it is unimportant and nobody ever used it, and the statistics tell a week before', async () => {
      const butler = `alfred ${door.name}`;
      const store = (predicate: string, importance: number): Promise<View> =>
        door.storeFact({ subject: butler, predicate, content: 'yes', importance, sourceButler: butler });
      const validity = async ({ id }: View): Promise<unknown> =>
        (await door.getMemory({ type: 'fact', id }))['validity'];
      const [important, confirmed, unused] = [await store('plays', 8), await store('sings', 3), await store('hums', 3)];
      testApp.clock.now = new Date(start.getTime() + 1000);
      await door.confirmMemory({ type: 'fact', id: confirmed.id });
      testApp.clock.now = start;

      expect((await door.stats(butler)).dueEvictions).toEqual([{ butler, generation: 'mid', count: 1 }]);
      await sweepAfter(6);
      expect((await door.stats(butler)).dueEvictions).toHaveLength(1);
      await sweepAfter(7);
      expect(await Promise.all([important, confirmed, unused].map(validity))).toEqual(['active', 'active', 'expired']);
      expect((await door.stats(butler)).dueEvictions).toBeNull();
      await expectNoDifference(testApp.core);
    });
  });
});
