import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handleOf, longHandleOf } from '../../src/shared/handles.ts';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { enrol, throughEveryDoor, type Caller, type Door } from './doors.ts';

describe('the handle of a memory', () => {
  let testApp: TestApp;
  let operator: Caller;
  let alfred: Caller;
  let neighbour: Caller;
  let names = 0;

  beforeAll(async () => {
    testApp = await createGuardedApp();
    operator = await enrol(testApp, { tenantId: 'house', role: 'operator', butler: null });
    alfred = await enrol(testApp, { tenantId: 'house', role: 'butler', butler: 'alfred' });
    neighbour = await enrol(testApp, { tenantId: 'next-door', role: 'operator', butler: null });
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    let door: Door;
    let word: string;

    beforeEach(async () => {
      door = await open(testApp, operator);
      word = `violin${++names}`;
    });
    afterEach(() => door.close());

    it('ends each line of a context, and is taken as the id', async () => {
      const { id } = await door.storeFact({
        subject: word,
        predicate: 'owner',
        content: `plays the ${word}`,
        scope: word,
      });
      const rule = await door.storeRule({ content: `Tune the ${word}`, scope: word });
      const episode = await door.storeEpisode({ content: `The ${word} fell`, butler: word });
      const { text } = await door.context({ butler: word, triggerPrompt: `Who plays the ${word}?` });

      expect(text).toMatch(new RegExp(`plays the ${word} \\[.*, ${handleOf(id)}\\]\n`));
      expect(text).toMatch(new RegExp(`Tune the ${word} \\[.*, ${handleOf(rule.id)}\\]`));
      expect(text).toContain(`- [just now, not consolidated, ${handleOf(episode.id)}] The ${word} fell`);

      const fact = { type: 'fact' as const, id: handleOf(id) };
      expect(await door.getMemory(fact)).toMatchObject({ id });
      expect(await door.getMemory({ ...fact, id: ` ${longHandleOf(id).toUpperCase()} ` })).toMatchObject({ id });
      expect(await door.confirmMemory(fact)).toMatchObject({ id });
      expect(await door.forgetMemory(fact)).toMatchObject({ id, validity: 'retracted' });
      expect(await door.restoreMemory(fact)).toMatchObject({ id, validity: 'active' });
      expect((await door.history(fact)).map(({ event }) => event.eventType)).toContain('fact.restored');
      expect(await door.explain(`plays the ${word}`, fact)).toMatchObject({ came: true });
      expect(await door.markRule({ ruleId: handleOf(rule.id), outcome: 'helpful' })).toMatchObject({ successCount: 1 });
    });

    it('says which fact a new one replaces, as its id does', async () => {
      for (const [place, of] of [handleOf, longHandleOf, String].entries()) {
        const subject = `${word} ${place}`;
        const first = await door.storeFact({ subject, predicate: 'strings', content: 'made of gut' });
        const second = await door.storeFact({
          subject,
          predicate: 'owner',
          content: 'nobody',
          supersedes: of(first.id),
        });

        expect(second).toMatchObject({ supersedesId: first.id });
        expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({ validity: 'superseded' });
      }
    });

    it('says which rule a new one replaces, and which episode it was learned from', async () => {
      const episode = await door.storeEpisode({ content: `The ${word} fell`, butler: word });
      const first = await door.storeRule({ content: `Tune the ${word} weekly` });
      const second = await door.storeRule({
        content: `Tune the ${word} daily`,
        supersedes: handleOf(first.id),
        sourceEpisodeId: handleOf(episode.id),
      });

      expect(second).toMatchObject({ sourceEpisodeId: episode.id });
      if (door.lastText !== undefined) {
        expect(door.lastText()).toContain(`Stored rule ${handleOf(second.id)}`);
        expect(door.lastText()).toContain(`It took the place of rule ${handleOf(first.id)}`);
      }
      expect(await door.getMemory({ type: 'rule', id: first.id })).toMatchObject({ validity: 'retracted' });
    });

    it('is in the answer of a recall and of a search', async () => {
      const { id } = await door.storeFact({ subject: word, predicate: 'owner', content: `plays the ${word}` });
      await door.search({ query: word });
      if (door.lastText !== undefined) expect(door.lastText()).toContain(`fact ${handleOf(id)} (`);
      await door.recall({ topic: `Who plays the ${word}?` });
      if (door.lastText !== undefined) expect(door.lastText()).toContain(`fact ${handleOf(id)} (`);
    });

    it('is unknown to who may not see the memory, and for another type', async () => {
      const { id } = await door.storeFact({ subject: word, predicate: 'owner', content: 'hers', scope: 'jeeves' });
      const fact = { type: 'fact' as const, id: handleOf(id) };
      const notFound = { code: 'NOT_FOUND' };

      for (const caller of [alfred, neighbour]) {
        const stranger = await open(testApp, caller);
        await expect(stranger.getMemory(fact)).rejects.toMatchObject(notFound);
        await expect(stranger.forgetMemory(fact)).rejects.toMatchObject(notFound);
        await expect(stranger.history(fact)).rejects.toMatchObject(notFound);
        await stranger.close();
      }
      await expect(door.markRule({ ruleId: fact.id, outcome: 'helpful' })).rejects.toMatchObject(notFound);
      await expect(door.confirmMemory({ type: 'fact', id: 'ab000ab' })).rejects.toMatchObject(notFound);
      await expect(door.confirmMemory({ type: 'fact', id: 'the violin' })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    });

    it('that two memories share is refused, with longer ones to choose from', async () => {
      const [one, other] = [
        await door.storeRule({ content: `Tune ${word}` }),
        await door.storeRule({ content: `Oil ${word}` }),
      ];
      const twin = `${other.id.slice(0, -7)}${one.id.slice(-7)}`;
      const { db } = testApp.app.createContext({}, operator.principal).memory;
      await db.client.$executeRaw`UPDATE rules SET id = ${twin}::uuid WHERE id = ${other.id}::uuid`;

      await expect(door.getMemory({ type: 'rule', id: handleOf(one.id) })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('which several share') as string,
      });
      expect(await door.getMemory({ type: 'rule', id: longHandleOf(twin) })).toMatchObject({ content: `Oil ${word}` });
    });
  });
});
