import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { replayReceipt } from '../../src/retrieval/receipts/replay.ts';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { enrol, throughEveryDoor, type Caller, type Door } from './doors.ts';

describe('the text of a forgotten memory', () => {
  let testApp: TestApp;
  let tenants = 0;

  beforeAll(async () => {
    testApp = await createGuardedApp();
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    let operator: Door;
    let butler: Door;
    let caller: Caller;

    beforeEach(async () => {
      const tenantId = `house ${++tenants}`;
      caller = await enrol(testApp, { tenantId, role: 'butler', butler: 'alfred' });
      operator = await open(testApp, await enrol(testApp, { tenantId, role: 'operator', butler: null }));
      butler = await open(testApp, caller);
    });
    afterEach(() => Promise.all([operator.close(), butler.close()]));

    const pass = (): void => {
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 60_000);
    };
    const store: Record<'fact' | 'rule' | 'episode', () => Promise<{ id: string }>> = {
      fact: () =>
        butler.storeFact({
          subject: 'user',
          predicate: 'berth',
          content: 'zeppelin pier',
          scope: 'alfred',
          tags: ['zeppelin'],
          metadata: { seen: 'zeppelin' },
        }),
      rule: () => butler.storeRule({ content: 'Moor the zeppelin at the pier', scope: 'alfred', tags: ['zeppelin'] }),
      episode: () => butler.storeEpisode({ content: 'The zeppelin lies at the pier', butler: 'alfred' }),
    };

    it.each(['fact', 'rule', 'episode'] as const)(
      'is masked for butlers wherever they read a %s, and read by operators',
      async (type) => {
        const { id } = await store[type]();
        pass();
        const { receiptId, text } = await butler.context({ butler: 'alfred', triggerPrompt: 'zeppelin pier' });
        expect(text).toContain('zeppelin');
        const before = testApp.clock.now;
        pass();
        const forgotten = await butler.forgetMemory({ type, id });
        expect(forgotten['content']).toContain('zeppelin');
        pass();

        const readBy = async (door: Door): Promise<string> =>
          JSON.stringify([
            await door.getMemory({ type, id }),
            (await door.history({ type, id })).map(({ memory }) => memory),
            await door.search({ query: 'zeppelin', types: [type], asOf: before }),
          ]);
        expect(await readBy(butler)).not.toContain('zeppelin');
        expect(await readBy(butler)).toContain('[forgotten]');
        expect(await readBy(operator)).toContain('zeppelin');
        const replay = await replayReceipt(testApp.app.createContext({}, caller.principal).memory, receiptId);
        expect(JSON.stringify([replay.text, replay.memories])).not.toContain('zeppelin');
        expect(replay.isExact).toBe(false);

        await butler.restoreMemory({ type, id });
        const versions = await butler.history({ type, id });
        const again = JSON.stringify([await butler.getMemory({ type, id }), versions.map(({ memory }) => memory)]);
        expect(again).toContain('zeppelin');
        expect(again).not.toContain('[forgotten]');
      },
    );
  });
});
