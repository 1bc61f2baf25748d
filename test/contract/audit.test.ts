import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door } from './doors.ts';

describe('what was done', () => {
  let testApp: TestApp;
  let door: Door;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  /** A key that no other test uses. */
  const key = (): { subject: string; predicate: string } => ({ subject: 'user', predicate: `likes_${++names}` });
  const lastEvent = async (type: 'fact' | 'rule' | 'episode', id: string): Promise<string> => {
    const versions = await door.history({ type, id });
    return versions.at(-1)?.event.id ?? expect.unreachable('a memory has a history');
  };

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('is told with the memory as it was each time', async () => {
      const shared = key();
      const { id } = await door.storeFact({ ...shared, content: 'ramen', importance: 7 });
      await door.storeFact({ ...shared, content: 'soba' });
      await door.forgetMemory({ type: 'fact', id });
      const versions = await door.history({ type: 'fact', id });

      expect(versions.map(({ event }) => event.eventType)).toEqual([
        'fact.stored',
        'fact.superseded',
        'fact.retracted',
      ]);
      expect(versions.map(({ memory }) => memory?.['validity'])).toEqual(['active', 'superseded', 'retracted']);
      expect(versions[0]).toMatchObject({
        event: { actor: 'operator', requestId: expect.stringMatching(/\w/) },
        memory: { id, content: 'ramen', importance: 7, version: 1, effectiveConfidence: 1 },
      });
    });

    it('is told of maturity and counters as they were', async () => {
      const { id } = await door.storeRule({ content: `rule ${++names}` });
      for (let success = 0; success < 5; success++) await door.markRule({ ruleId: id, outcome: 'helpful' });
      const versions = await door.history({ type: 'rule', id });

      expect(versions.map(({ memory }) => memory?.['successCount'])).toEqual([0, 1, 2, 3, 4, 5, 5]);
      expect(versions.map(({ memory }) => memory?.['maturity']).slice(-2)).toEqual(['candidate', 'established']);
    });

    it('is not told of a memory that is not there', async () => {
      await expect(door.history({ type: 'fact', id: '00000000-0000-4000-8000-000000000000' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    });

    it('can be undone, and the undo as well', async () => {
      const { id } = await door.storeFact({ ...key(), content: 'ramen' });
      await door.forgetMemory({ type: 'fact', id });
      const undone = await door.undo({ eventId: await lastEvent('fact', id) });

      expect(undone).toMatchObject({ eventType: 'fact.undone', entityId: id });
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'active' });
      await door.undo({ eventId: undone.id });
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'retracted' });
    });

    it('gives the key back to the old fact when a supersession is undone', async () => {
      const shared = key();
      const old = await door.storeFact({ ...shared, content: 'ramen' });
      const successor = await door.storeFact({ ...shared, content: 'soba' });
      await door.undo({ eventId: await lastEvent('fact', successor.id) });

      expect(await door.getMemory({ type: 'fact', id: old.id })).toMatchObject({ validity: 'active' });
      expect(await door.getMemory({ type: 'fact', id: successor.id })).toMatchObject({ validity: 'retracted' });
    });

    it('is undone once, and only while nobody changed it since', async () => {
      const { id } = await door.storeFact({ ...key(), content: 'ramen' });
      const stored = await lastEvent('fact', id);
      await door.forgetMemory({ type: 'fact', id });

      await expect(door.undo({ eventId: stored })).rejects.toMatchObject({ code: 'CONFLICT' });
      const forgotten = await lastEvent('fact', id);
      await door.undo({ eventId: forgotten });
      await expect(door.undo({ eventId: forgotten })).rejects.toMatchObject({ code: 'CONFLICT' });
      await expect(door.undo({ eventId: '00000000-0000-4000-8000-000000000000' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      await expect(door.undo({ eventId: 'yesterday' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });

    it('gives a rule that was inverted its text back', async () => {
      const content = `rule ${++names}`;
      const { id } = await door.storeRule({ content });
      for (const reason of ['one', 'two', 'three']) await door.markRule({ ruleId: id, outcome: 'harmful', reason });
      expect(await door.getMemory({ type: 'rule', id })).toMatchObject({ maturity: 'anti_pattern' });
      await door.undo({ eventId: await lastEvent('rule', id) });

      expect(await door.getMemory({ type: 'rule', id })).toMatchObject({ maturity: 'candidate', content });
    });
  });
});

describe('many and short writes', () => {
  let testApp: TestApp;
  let door: Door;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('store a batch of episodes in order, or none of them', async () => {
      const butler = `batch ${++names}`;
      const ids = await door.ingestEpisodes([
        { butler, content: 'first', metadata: { turn: 'D1:1' } },
        { butler, content: 'second', importance: 8 },
      ]);

      expect(await door.getMemory({ type: 'episode', id: ids[0] ?? '' })).toMatchObject({
        content: 'first',
        metadata: { turn: 'D1:1' },
      });
      expect(await door.getMemory({ type: 'episode', id: ids[1] ?? '' })).toMatchObject({ importance: 8 });
      const before = await door.stats(butler);
      await expect(
        door.ingestEpisodes([
          { butler, content: 'third' },
          { butler, content: ' ' },
        ]),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('episodes[1].content'),
      });
      expect((await door.stats(butler)).episodes).toEqual(before.episodes);
    });

    it('store each episode of a batch once for one idempotency key', async () => {
      const episode = { butler: 'batch', content: 'lunch', idempotencyKey: `batch ${++names}` };
      const [first] = await door.ingestEpisodes([episode]);

      expect(await door.ingestEpisodes([episode])).toEqual([first]);
    });

    it('make an episode of a note for eden, and a fact of one for later generations', async () => {
      expect(await door.storeNote({ content: 'remember the milk', tags: ['shopping'], tier: 'eden' })).toMatchObject({
        type: 'episode',
        generation: 'eden',
        tags: ['shopping'],
      });
      const note = `the gate code is ${++names}`;
      const fact = await door.storeNote({ content: note, tier: 'mid' });
      expect(fact).toMatchObject({
        type: 'fact',
        subject: 'note',
        permanence: 'standard',
        generation: 'mid',
        content: note,
      });
      expect(await door.storeNote({ content: note, tier: 'mid' })).toMatchObject({ id: fact.id });
      expect(await door.storeNote({ content: `${note}!`, tier: 'long' })).toMatchObject({
        permanence: 'stable',
        generation: 'long',
      });
    });

    it('are counted, and forgotten ones are not', async () => {
      const butler = `counted ${++names}`;
      const [first = ''] = await door.ingestEpisodes([
        { butler, content: 'one' },
        { butler, content: 'two' },
      ]);
      await door.storeRule({ content: 'be brief', scope: butler });
      const { id } = await door.storeFact({ subject: butler, predicate: 'mood', content: 'good', scope: butler });
      const before = await door.stats(butler);
      await door.forgetMemory({ type: 'episode', id: first });
      await door.forgetMemory({ type: 'fact', id });
      const after = await door.stats(butler);

      expect(before.episodes).toMatchObject({ total: 2, backlog: 2, deadLetters: 0 });
      expect(after.episodes).toMatchObject({ total: 1, backlog: 1 });
      expect(before.facts.total - after.facts.total).toBe(1);
      expect(after.unknown).toEqual(['jobs']);
    });
  });
});
