import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { enrol, throughEveryDoor, type Caller, type Door } from './doors.ts';

describe('a forgotten fact', () => {
  let testApp: TestApp;
  let operator: Caller;
  let butler: Caller;
  let names = 0;

  beforeAll(async () => {
    testApp = await createGuardedApp();
    operator = await enrol(testApp, { tenantId: 'house', role: 'operator', butler: null });
    butler = await enrol(testApp, { tenantId: 'house', role: 'butler', butler: 'alfred' });
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    let byOperator: Door;
    let byButler: Door;
    let word: string;

    beforeEach(async () => {
      byOperator = await open(testApp, operator);
      byButler = await open(testApp, butler);
      word = `yacht${++names}x`;
    });
    afterEach(() => Promise.all([byOperator.close(), byButler.close()]));

    const pass = (): void => {
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 60_000);
    };
    const reference = (id: string): { type: 'episode'; id: string } => ({ type: 'episode', id });

    /** Learned from one sentence of an episode, and forgotten. */
    async function learn(): Promise<{ episodeId: string; factId: string; text: string }> {
      pass();
      const text = `User: My ${word} lies at the old pier. The boiler${word} makes noise.`;
      const [episodeId = ''] = await byButler.ingestEpisodes([{ butler: 'alfred', content: text }]);
      const { run } = await byButler.claimConsolidation({ butler: 'alfred' });
      const evidence = [{ episode_id: episodeId, quote: `My ${word} lies at the old pier` }];
      const fact = { subject: 'user', predicate: `berth of ${word}`, content: 'the old pier', evidence };
      await byButler.submitConsolidation(run?.id ?? '', { new_facts: [fact] });
      const [found] = await byOperator.search({ query: word, types: ['fact'], mode: 'keyword' });
      pass();
      return { episodeId, factId: found?.id ?? expect.unreachable('nothing was learned'), text };
    }
    const find = async (door: Door, query: string, asOf?: Date): Promise<unknown[]> => {
      const found = await door.search({ query, types: ['episode'], mode: 'keyword', ...(asOf && { asOf }) });
      return found.map(({ content }) => content);
    };

    it('is hidden in its source, which neither words nor history bring back to a butler', async () => {
      const { episodeId, factId, text } = await learn();
      const before = testApp.clock.now;
      pass();
      expect(await find(byButler, word)).toEqual([text]);
      await byButler.forgetMemory({ type: 'fact', id: factId });
      const masked = `User: [forgotten]. The boiler${word} makes noise.`;

      expect(await byButler.getMemory(reference(episodeId))).toMatchObject({ content: masked });
      for (const door of [byButler, byOperator]) {
        expect(await find(door, word)).toEqual([]);
        expect(await find(door, word, before)).toEqual([]);
      }
      expect(await find(byButler, `boiler${word}`)).toEqual([masked]);
      expect(await find(byButler, `boiler${word}`, before)).toEqual([masked]);
      const versions = await byButler.history(reference(episodeId));
      expect(new Set(versions.map(({ memory }) => memory?.['content']))).toEqual(new Set([masked]));
      const { text: shown } = await byButler.context({ butler: 'alfred', triggerPrompt: `boiler${word}` });
      expect(shown).toContain(`boiler${word} makes noise`);
      expect(shown).not.toContain(`My ${word}`);
    });

    it('is answered with what was hidden and where, and takes its sources if asked to', async () => {
      const { episodeId, factId } = await learn();
      await byButler.forgetMemory({ type: 'fact', id: factId, sources: true });
      expect(byButler.lastHidden()).toEqual([{ episodeId, text: `My ${word} lies at the old pier` }]);
      expect(await find(byButler, `boiler${word}`)).toEqual([]);

      const versions = await byButler.history({ type: 'fact', id: factId });
      await byButler.undo({ eventId: versions.at(-1)?.event.id ?? '' });
      expect(await find(byButler, `boiler${word}`)).toHaveLength(1);
      expect(await find(byButler, word)).toHaveLength(1);
    });

    it('is read by an operator in its source', async () => {
      const { episodeId, factId, text } = await learn();
      await byButler.forgetMemory({ type: 'fact', id: factId });

      expect(await byOperator.getMemory(reference(episodeId))).toMatchObject({ content: text });
      expect(await find(byOperator, `boiler${word}`)).toEqual([text]);
      const versions = await byOperator.history(reference(episodeId));
      expect(versions.map(({ memory }) => memory?.['content'])).toEqual(versions.map(() => text));
    });

    it('comes back in its source when it is restored, and when the forgetting is undone', async () => {
      const { episodeId, factId, text } = await learn();
      const fact = { type: 'fact', id: factId } as const;
      await byButler.forgetMemory(fact);
      await byButler.restoreMemory(fact);
      expect(await byButler.getMemory(reference(episodeId))).toMatchObject({ content: text });
      expect(await find(byButler, word)).toEqual([text]);

      pass();
      await byButler.forgetMemory(fact);
      expect(await find(byButler, word)).toEqual([]);
      const versions = await byButler.history(fact);
      await byButler.undo({ eventId: versions.at(-1)?.event.id ?? '' });
      expect(await byButler.getMemory(reference(episodeId))).toMatchObject({ content: text });
      expect(await find(byButler, word)).toEqual([text]);
    });
  });
});
