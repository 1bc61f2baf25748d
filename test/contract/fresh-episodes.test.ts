import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handleOf } from '../../src/shared/handles.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door, type MatchView } from './doors.ts';

describe('an episode that waits to be consolidated', () => {
  let testApp: TestApp;
  let door: Door;
  let butlers = 0;
  let butler: string;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  const typesOf = (found: MatchView[]): unknown[] => found.map(({ type }) => type);
  const fresh = (found: MatchView[]): MatchView[] => found.filter(({ isFresh }) => isFresh);

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
      butler = `keeper ${++butlers}`;
    });
    afterEach(() => door.close());

    const tell = (content: string): Promise<{ id: string }> => door.storeEpisode({ butler, content });
    const recall = (topic: string, limit?: number): Promise<MatchView[]> =>
      door.recall({ topic, scope: butler, limit });
    const consolidate = async (): Promise<void> => {
      const { run } = await door.claimConsolidation({ butler });
      await door.submitConsolidation(run?.id ?? '', { new_facts: [] });
    };

    it('is recalled at once, after the facts, and is labelled', async () => {
      const { id } = await tell('The spare key of the boathouse is under the anchor');
      await door.storeFact({ subject: 'boathouse', predicate: 'spare key', content: 'with the warden', scope: butler });
      const found = await recall('Where is the spare key of the boathouse?');

      expect(typesOf(found)).toEqual(['fact', 'episode']);
      expect(found.map(({ isFresh }) => isFresh)).toEqual([false, true]);
      if (door.lastText !== undefined) {
        expect(door.lastText()).toMatch(
          new RegExp(`episode ${handleOf(id)} \\([0-9.]+, not consolidated\\): The spare`),
        );
      }
      const asked = { type: 'episode', id } as const;
      const scope = butler;
      expect(await door.explain('Where is the spare key of the boathouse?', asked, { scope })).toMatchObject({
        came: true,
        place: 2,
      });
    });

    it('passes the same relevance floor as a fact', async () => {
      const { id } = await tell('The spare key of the boathouse is under the anchor');
      const topic = 'Which wine goes with mushrooms?';

      expect(await recall(topic)).toEqual([]);
      expect(await door.explain(topic, { type: 'episode', id }, { scope: butler })).toMatchObject({
        came: false,
        stage: 'relevance_floor',
      });
    });

    it('leaves room for others: three at most, and never more than the limit', async () => {
      for (const place of ['anchor', 'bench', 'canoe', 'drum', 'easel']) {
        await tell(`The spare key of the boathouse is under the ${place}`);
      }
      const topic = 'the spare key of the boathouse is under the anchor';

      expect(fresh(await recall(topic))).toHaveLength(3);
      expect(await recall(topic, 2)).toHaveLength(2);
      expect((await recall(topic))[0]).toMatchObject({ content: expect.stringContaining('anchor') as string });
    });

    it('is not recalled once it is consolidated, or where other types are asked for', async () => {
      const { id } = await tell('The spare key of the boathouse is under the anchor');
      const topic = 'spare key of the boathouse';

      expect(await door.recall({ topic, scope: butler, types: ['fact', 'rule'] })).toEqual([]);
      expect(fresh(await recall(topic))).toHaveLength(1);
      await consolidate();
      expect(await recall(topic)).toEqual([]);
      expect(await door.explain(topic, { type: 'episode', id }, { scope: butler })).toMatchObject({ came: false });
    });

    it('is recalled without what was superseded since', async () => {
      const key = { subject: 'boathouse', predicate: 'spare key', scope: butler };
      await door.storeFact({ ...key, content: 'under the anchor' });
      await tell('The jetty lamp is broken. The boathouse spare key is under the anchor.');
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 60_000);
      await door.storeFact({ ...key, content: 'with the warden' });
      const found = await recall('boathouse spare key and jetty lamp');

      expect(found.map(({ content }) => content)).toContain('The jetty lamp is broken.');
      expect(JSON.stringify(found)).not.toContain('anchor');
    });

    it('comes into a context that it matches, however old, and is labelled', async () => {
      const { id } = await tell('The spare key of the boathouse is under the anchor');
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 60_000);
      for (let number = 1; number <= 12; number++) await tell(`Row ${number} of the seating plan was printed`);
      const triggerPrompt = 'Where is the spare key of the boathouse?';
      const { text, sections } = await door.context({ triggerPrompt, butler });

      expect(text).toContain(`not consolidated, ${handleOf(id)}] The spare key`);
      expect(text).not.toContain('Nothing relevant');
      expect(sections.map(({ name }) => name)).toEqual(['episodes']);
      const without = await door.context({ triggerPrompt, butler, includeEpisodes: false });
      expect(without.text).not.toContain('spare key');
    });
  });
});
