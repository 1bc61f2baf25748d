import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MemoryReference } from '../../src/memory/links/links.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door, type MatchView } from './doors.ts';

describe('what is remembered', () => {
  let testApp: TestApp;
  let door: Door;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  /** A scope that no other test uses. */
  const newScope = (): string => `scope ${++names}`;
  const contents = (found: MatchView[]): string[] => found.map(({ content }) => content as string);

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('is found across types, the best match first, with its metadata', async () => {
      const scope = newScope();
      await door.storeEpisode({ butler: scope, content: 'The cello was tuned', metadata: { turn: 'D1:3' } });
      await door.storeFact({ subject: 'user', predicate: scope, content: 'plays the cello', scope });
      await door.storeRule({ content: 'Never touch the violin', scope });
      const found = await door.search({ query: 'cello', scope, mode: 'keyword' });

      expect(contents(found).toSorted()).toEqual(['The cello was tuned', 'plays the cello']);
      expect(found.find(({ type }) => type === 'episode')).toMatchObject({ metadata: { turn: 'D1:3' }, butler: scope });
      expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
      expect(await door.search({ query: 'cello', scope, types: ['rule'], mode: 'keyword' })).toEqual([]);
    });

    it.each(['"', "it's; DROP TABLE facts;", '100% & | ! ( ) :* <->', '😀', 'the of and', '-', '"unclosed', '\\'])(
      'is asked for with %s without an error',
      async (query) => {
        const found = await door.search({ query, scope: newScope() });
        expect(Array.isArray(found)).toBe(true);
      },
    );

    it('is not asked for with nothing', async () => {
      await expect(door.search({ query: ' ' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await expect(door.search({ query: 'x', limit: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await expect(door.recall({ topic: '' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });

    it('is of the global and the own scope only', async () => {
      const [own, other] = [newScope(), newScope()];
      await door.storeFact({ subject: 'scoped', predicate: own, content: `zebra of ${own}`, scope: own });
      await door.storeFact({ subject: 'scoped', predicate: other, content: `zebra of ${other}`, scope: other });
      const found = contents(await door.search({ query: 'zebra', scope: own, types: ['fact'], mode: 'keyword' }));

      expect(found).toContain(`zebra of ${own}`);
      expect(found).not.toContain(`zebra of ${other}`);
    });

    it('is not found once it is forgotten, and again once it is restored', async () => {
      const scope = newScope();
      const { id } = await door.storeFact({ subject: 'user', predicate: scope, content: 'collects harmonicas', scope });
      const ask = (): Promise<MatchView[]> => door.search({ query: 'harmonicas', scope, mode: 'keyword' });
      await door.forgetMemory({ type: 'fact', id });
      expect(await ask()).toEqual([]);
      await door.restoreMemory({ type: 'fact', id });
      expect(contents(await ask())).toEqual(['collects harmonicas']);
    });

    it('is recalled by what matters: facts and rules, a warning marked as such', async () => {
      const scope = newScope();
      const { id: ruleId } = await door.storeRule({ content: 'book trains on Mondays', scope });
      for (const reason of ['late', 'full', 'dear']) await door.markRule({ ruleId, outcome: 'harmful', reason });
      await door.storeFact({
        subject: 'user',
        predicate: scope,
        content: 'prefers trains to planes',
        scope,
        importance: 9,
      });
      const found = await door.recall({ topic: 'trains', scope });

      expect(found.map(({ type }) => String(type)).toSorted()).toEqual(['fact', 'rule']);
      expect(found.find(({ type }) => type === 'rule')).toMatchObject({ isWarning: true, maturity: 'anti_pattern' });
      expect(found.find(({ type }) => type === 'fact')).toMatchObject({ isWarning: false });
    });

    it('is found as of a moment by what it said then', async () => {
      const scope = newScope();
      const { id: ruleId } = await door.storeRule({ content: 'Book flights on Friday', scope });
      for (const day of ['Monday', 'Tuesday', 'Sunday']) {
        await door.storeRule({ content: `Book flights on ${day}`, scope });
      }
      const asOf = testApp.clock.now;
      testApp.clock.now = new Date(asOf.getTime() + 60_000);
      for (const reason of ['late', 'full', 'dear']) await door.markRule({ ruleId, outcome: 'harmful', reason });
      for (const mode of ['keyword', 'semantic', 'hybrid'] as const) {
        const found = await door.search({ query: 'Book flights on Friday', scope, types: ['rule'], mode, asOf });

        expect(contents(found)[0]).toBe('Book flights on Friday');
        expect(found).toHaveLength(4);
      }
    });

    it('is put together for a butler within its tokens', async () => {
      const scope = newScope();
      await door.storeFact({ subject: 'user', predicate: `tea of ${scope}`, content: 'drinks oolong tea', scope });
      await door.storeRule({ content: 'Serve tea without sugar', scope });
      const context = await door.context({ triggerPrompt: 'Serve the tea', butler: scope, tokenBudget: 400 });

      expect(context.text).toMatch(/oolong[\s\S]*without sugar/);
      expect(context.sections.map(({ name }) => name)).toEqual(['facts', 'rules']);
      expect(context.tokensUsed).toBeLessThanOrEqual(400);
      expect(await door.context({ triggerPrompt: 'Serve the tea', butler: scope, tokenBudget: 0 })).toMatchObject({
        text: '',
        tokensUsed: 0,
      });
    });

    it('is explained: why it comes, or which stage drops it', async () => {
      const scope = newScope();
      const fact = await door.storeFact({ subject: 'user', predicate: scope, content: 'keeps bees', scope });
      expect(await door.explain('bees', { type: 'fact', id: fact.id })).toMatchObject({ came: true, stage: null });
      await door.forgetMemory({ type: 'fact', id: fact.id });
      expect(await door.explain('bees', { type: 'fact', id: fact.id })).toMatchObject({ came: false });
    });

    it('is explained as it is answered: a consolidated episode is not recalled unless episodes are asked for', async () => {
      const scope = newScope();
      const { id } = await door.storeEpisode({ butler: scope, content: 'the beehive was moved' });
      const { run } = await door.claimConsolidation({ butler: scope });
      await door.submitConsolidation(run?.id ?? '', { new_facts: [] });
      await door.storeFact({ subject: 'user', predicate: scope, content: 'the beehive was moved', scope });
      const episode = { type: 'episode', id } as const;
      const wasFound = (found: MatchView[]): boolean => found.some((match) => match.id === id);

      expect(wasFound(await door.recall({ topic: 'beehive', scope }))).toBe(false);
      expect(await door.explain('beehive', episode, { scope })).toMatchObject({ came: false, stage: 'type' });
      expect(wasFound(await door.recall({ topic: 'beehive', scope, types: ['episode'] }))).toBe(true);
      expect(await door.explain('beehive', episode, { scope, types: ['episode'] })).toMatchObject({ came: true });
    });

    it('is explained with its place among all types that the search answers with', async () => {
      const scope = newScope();
      const content = 'the lighthouse was painted';
      await door.storeEpisode({ butler: scope, content });
      await door.storeFact({ subject: 'user', predicate: scope, content, scope });
      await door.storeRule({ content, scope });
      const found = await door.search({ query: 'lighthouse', scope });

      expect(found).toHaveLength(3);
      for (const [index, { type, id }] of found.entries()) {
        const memory = { type, id } as MemoryReference;
        const explained = await door.explain('lighthouse', memory, { scope, kind: 'search' });
        expect(explained).toMatchObject({ came: true, place: index + 1 });
      }
    });
  });
});
