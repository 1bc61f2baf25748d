import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { memoryTypes } from '../../src/db/tables.ts';
import type { FilterInput } from '../../src/memory/filter.ts';
import { listMemories } from '../../src/memory/lists.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { openMcpDoor, throughEveryDoor, type Door, type MatchView } from './doors.ts';

describe('a filter', () => {
  let testApp: TestApp;
  const [june, july] = [new Date('2025-06-01T00:00:00.000Z'), new Date('2025-07-01T00:00:00.000Z')];
  const scope = 'filtered';
  const sortContents = (found: readonly MatchView[]): string[] =>
    found.map(({ content }) => content as string).toSorted();

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  describe('of a search and of a recall', () => {
    let door: Door;

    throughEveryDoor((open) => {
      beforeEach(async () => {
        door = await open(testApp);
      });
      afterEach(() => door.close());

      it('takes a time for when it happened: from a moment on, and before another', async () => {
        const own = `${scope} ${door.name}`;
        const observe = (content: string, observedAt?: Date): Promise<unknown> =>
          door.storeEpisode({ butler: own, content, observedAt });
        await observe('kayak in May', new Date(june.getTime() - 1));
        await observe('kayak on the first of June', june);
        await observe('kayak on the first of July', july);
        await observe('kayak, just stored');
        const find = async (from: Date | null, to: Date | null): Promise<string[]> => {
          const asked = { scope: own, types: ['episode' as const], from, to };
          const found = await door.search({ query: 'kayak', mode: 'keyword', ...asked });
          const recalled = await door.recall({ topic: 'kayak', mode: 'keyword', ...asked });
          expect(sortContents(recalled)).toEqual(sortContents(found));
          return sortContents(found);
        };

        expect(await find(june, july)).toEqual(['kayak on the first of June']);
        expect(await find(july, null)).toEqual(['kayak on the first of July', 'kayak, just stored']);
        expect(await find(null, june)).toEqual(['kayak in May']);
      });

      it.each([
        { types: [] },
        { validity: [] },
        { generation: [] },
        { permanence: [] },
        { maturity: [] },
        { scope: ' ' },
        { subject: '' },
        { from: july, to: june },
        { from: june, to: june },
      ])('is refused where nothing can pass it: %j', async (filter) => {
        await expect(door.search({ query: 'kayak', ...filter })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      });
    });
  });

  beforeAll(async () => {
    const door = await openMcpDoor(testApp);
    const [subject, butler] = ['the user', 'guide'];
    await door.storeEpisode({ butler, content: 'a heron in May', observedAt: new Date(june.getTime() - 1) });
    await door.storeEpisode({ butler, content: 'a heron in June', observedAt: june, tags: ['outdoors'] });
    await door.storeFact({ subject, predicate: 'saw', content: 'a heron', tags: ['outdoors'] });
    await door.storeFact({ subject, predicate: 'saw', content: 'two herons', permanence: 'stable', importance: 8 });
    await door.storeFact({ subject, predicate: 'met', content: 'a heron', kind: 'event', observedAt: june });
    await door.storeRule({ content: 'Do not feed the heron' });
    await door.close();
  });

  it.each<FilterInput>([
    { from: june },
    { to: july },
    { from: june, to: july },
    { tags: ['outdoors'] },
    { tags: [] },
    { generation: ['eden', 'long'] },
    { permanence: ['stable'] },
    { maturity: ['candidate'] },
    { subject: 'the user' },
    { validity: ['superseded'] },
    { butler: 'guide' },
    { kind: 'event' },
    { minImportance: 6 },
    { maxConfidence: 0.6 },
  ])('lets the same memories into a search and into a list: %j', async (filter) => {
    const { memory: context } = testApp.app.createContext();
    const { results } = await searchMemories(context, {
      query: 'heron',
      mode: 'keyword',
      limit: 100,
      minConfidence: 0,
      ...filter,
    });
    const listed = await Promise.all(
      memoryTypes.map((type) => listMemories(context, { type, filter }, { limit: 100, inverted: false })),
    );
    const herons = listed.flat().filter(({ row }) => (row.content as string).includes('heron'));

    expect(results.length).toBeGreaterThan(0);
    expect(herons.map(({ row }) => row.id).toSorted()).toEqual(results.map(({ memory }) => memory.id).toSorted());
  });
});
