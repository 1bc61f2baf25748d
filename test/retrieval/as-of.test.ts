import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { explainMemory, type MemoryExplanation } from '../../src/retrieval/explain/explain.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { searchMemories, type SearchInput, type SearchOutcome } from '../../src/retrieval/search.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { forgetMemory, ingestEpisodes, markRule, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;
let start: Date;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
  start = context.now();
});

function daysLater(days: number): Date {
  return new Date(start.getTime() + days * 86_400_000);
}

async function moveHouse(): Promise<void> {
  const home = { subject: 'user', predicate: 'city', permanence: 'stable' };
  await storeFact(context, { ...home, content: 'lives in Lisbon' });
  await retrieval.after(10, () => storeFact(context, { ...home, content: 'lives in Porto' }));
}

describe('as of a moment', () => {
  it.each(['keyword', 'semantic', 'hybrid'] as const)(
    'a %s search finds the fact that was active then, and not the one that superseded it',
    async (mode) => {
      await moveHouse();
      const ask = (asOf: Date | null): Promise<string[]> =>
        retrieval.after(20, async () => {
          return contentsOf(await searchMemories(context, { query: 'user city lives Lisbon Porto', mode, asOf }));
        });

      expect(await ask(daysLater(5))).toEqual(['lives in Lisbon']);
      expect(await ask(daysLater(15))).toEqual(['lives in Porto']);
      expect(await ask(null)).toEqual(['lives in Porto']);
      expect(await ask(daysLater(-1))).toEqual([]);
    },
  );

  it('a recall does the same, and returns the memory in its state of then', async () => {
    await moveHouse();
    const { results } = await retrieval.after(20, () =>
      recallMemories(context, { topic: 'where the user lives', asOf: daysLater(5) }),
    );

    expect(results.map(({ memory }) => memory.row)).toMatchObject([
      { content: 'lives in Lisbon', validity: 'active', supersededAt: null, version: 1, viewedAt: daysLater(5) },
    ]);
    expect(results[0]?.parts.composite?.confidence).toBeCloseTo(Math.exp(-0.002 * 5), 9);
    expect(results[0]?.parts.composite?.recency).toBeCloseTo(0.5 ** (5 / 30), 9);
  });

  it('filters by what was true then', async () => {
    await moveHouse();
    const ask = (validity: 'active' | 'superseded', days: number): Promise<string[]> =>
      retrieval.after(20, async () => {
        const filter = { validity: [validity], asOf: daysLater(days) };
        return contentsOf(await searchMemories(context, { query: 'user city', ...filter }));
      });

    expect(await ask('superseded', 5)).toEqual([]);
    expect(await ask('superseded', 15)).toEqual(['lives in Lisbon']);
    expect(await ask('active', 15)).toEqual(['lives in Porto']);
  });

  it('measures confidence at that moment', async () => {
    await storeFact(context, { subject: 'user', predicate: 'mood', content: 'cheerful', permanence: 'ephemeral' });
    const ask = (asOf: Date): Promise<string[]> =>
      retrieval.after(30, async () => contentsOf(await searchMemories(context, { query: 'cheerful', asOf })));

    expect(await ask(daysLater(10))).toEqual(['cheerful']);
    expect(await ask(daysLater(20))).toEqual([]);
  });

  it('finds a rule by its words of then, before harm made it a warning', async () => {
    const { id } = await storeRule(context, { content: 'Book flights on Friday' });
    await retrieval.after(10, async () => {
      for (const reason of ['delays', 'delays', 'crowds']) {
        await markRule(context, { ruleId: id, outcome: 'harmful', reason });
      }
    });
    const ask = (query: string, days: number): Promise<unknown> =>
      retrieval.after(20, async () => {
        const { results } = await searchMemories(context, { query, mode: 'keyword', asOf: daysLater(days) });
        return results.map(({ memory }) => [memory.row.content, memory.maturity === 'anti_pattern']);
      });

    expect(await ask('flights', 5)).toEqual([['Book flights on Friday', false]]);
    expect(await ask('crowds', 5)).toEqual([]);
    expect(await ask('crowds', 15)).toEqual([[expect.stringContaining('Do NOT Book flights'), true]]);
  });

  describe('where the text has changed since', () => {
    const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Saturday', 'Sunday'];

    /** A rule that is a warning by now, among others that are nearer to its words than the warning is. */
    async function storeInverted(): Promise<string> {
      const { id } = await storeRule(context, { content: 'Book flights on Friday' });
      for (const day of days) await storeRule(context, { content: `Book flights on ${day}` });
      await retrieval.after(10, async () => {
        for (const reason of ['delays', 'delays', 'crowds']) {
          await markRule(context, { ruleId: id, outcome: 'harmful', reason });
        }
      });
      return id;
    }

    const ask = (changes: Partial<SearchInput>): Promise<SearchOutcome['results'][number][]> =>
      retrieval.after(20, async () => {
        const asked = { query: 'Book flights on Friday', asOf: daysLater(5), ...changes };
        return (await searchMemories(context, asked)).results;
      });

    it.each(['keyword', 'semantic', 'hybrid'] as const)('a %s search ranks it by the text of then', async (mode) => {
      await storeInverted();
      const [best, ...others] = await ask({ mode });

      expect(best).toMatchObject({ memory: { maturity: 'candidate', row: { content: 'Book flights on Friday' } } });
      expect(others.length).toBe(days.length);
      if (mode !== 'keyword') expect(best?.parts.match?.similarity).toBeCloseTo(1, 5);
    });

    it('a recall does the same', async () => {
      await storeInverted();
      const { results } = await retrieval.after(20, () =>
        recallMemories(context, { topic: 'Book flights on Friday', asOf: daysLater(5) }),
      );

      expect(results[0]?.memory.row.content).toBe('Book flights on Friday');
      expect(results[0]?.parts.match?.similarity).toBeCloseTo(1, 5);
    });

    it('never compares the vector of the text of today', async () => {
      await storeInverted();
      const [now] = await ask({ mode: 'semantic', query: 'Do NOT Book flights crowds delays', asOf: daysLater(15) });
      const then = await ask({ mode: 'semantic', query: 'Do NOT Book flights crowds delays' });
      const ofRule = then.find(({ memory }) => memory.row.content === 'Book flights on Friday');

      expect(now).toMatchObject({ memory: { maturity: 'anti_pattern' } });
      expect(ofRule?.parts.match?.similarity).toBeLessThan(now?.parts.match?.similarity ?? 0);
    });

    it('embeds a bounded number of texts, those with words of the query first', async () => {
      const others = Array.from({ length: 70 }, (_, number) => `Note ${number}`);
      await ingestEpisodes(
        context,
        ['Book flights on Friday', ...others].map((content) => ({ butler: 'alfred', content })),
      );
      await context.db.client.$executeRaw(Prisma.sql`UPDATE episodes SET content = 'Take the train'`);
      const embed = vi.spyOn(context.embedder, 'embed');
      const [best] = await ask({});
      const counts = embed.mock.calls.map(([texts]) => texts.length);
      embed.mockRestore();

      expect(counts).toEqual([64]);
      expect(best?.memory.row.content).toBe('Book flights on Friday');
      expect(best?.parts.match?.similarity).toBeCloseTo(1, 5);
    });

    it('leaves meaning out where the model of the vectors is not on this machine', async () => {
      await storeInverted();
      const otherModel: MemoryContext = {
        ...context,
        embedder: {
          ...context.embedder,
          model: { ...context.embedder.model, digest: 'another' },
          embedQuery: (text) => context.embedder.embedQuery(text),
          findFor: async () => null,
        },
      };
      const { results, semanticChannel } = await retrieval.after(20, () =>
        searchMemories(otherModel, { query: 'Book flights on Friday', asOf: daysLater(5) }),
      );

      expect(semanticChannel).toBe('model_changed');
      expect(results[0]).toMatchObject({
        memory: { row: { content: 'Book flights on Friday' } },
        parts: { match: { similarity: null } },
      });
    });
  });

  it('finds an episode that has been forgotten or has expired since, and its neighbours of then', async () => {
    const sessionId = '0190aaaa-0000-7000-8000-000000000002';
    const first = await storeEpisode(context, { butler: 'alfred', sessionId, content: 'We spoke about the regatta' });
    await storeEpisode(context, { butler: 'alfred', sessionId, content: 'It was lovely' });
    await retrieval.after(1, () => forgetMemory(context, { type: 'episode', id: first.id }));
    const ask = (days: number): Promise<unknown> =>
      retrieval.after(1000, async () => {
        const { results } = await searchMemories(context, { query: 'regatta', asOf: daysLater(days) });
        return results.map(({ memory, parts }) => [memory.row.content, (parts.match?.lentScore ?? 0) > 0]);
      });

    expect(await ask(0.5)).toEqual([
      ['We spoke about the regatta', false],
      ['It was lovely', true],
    ]);
    expect(await ask(2)).not.toContainEqual(['We spoke about the regatta', false]);
    expect(await ask(1000)).toEqual([]);
  });

  it('reads dates in the question as they were meant then', async () => {
    for (const days of [2, 3]) {
      await retrieval.after(days, () => storeEpisode(context, { butler: 'alfred', content: 'regatta in the bay' }));
    }
    const { results } = await retrieval.after(100, () =>
      searchMemories(context, { query: 'the regatta yesterday', asOf: daysLater(3) }),
    );

    expect(results.map(({ memory }) => memory.row.createdAt)).toEqual([daysLater(2), daysLater(3)]);
  });

  it('refuses what is no moment', async () => {
    await expect(searchMemories(context, { query: 'tea', asOf: new Date(Number.NaN) })).rejects.toThrow('as_of');
  });
});

describe('an explanation as of a moment', () => {
  const explain = (type: 'fact' | 'episode', id: string, days: number): Promise<MemoryExplanation> =>
    retrieval.after(50, () => {
      const asked = { query: 'user city lives', types: [type], memory: { type, id } } as const;
      return explainMemory(context, { ...asked, asOf: daysLater(days) });
    });

  it('tells of the state that the memory was in then', async () => {
    const home = { subject: 'user', predicate: 'city', permanence: 'stable' };
    const { id } = await storeFact(context, { ...home, content: 'lives in Lisbon' });
    await retrieval.after(10, () => storeFact(context, { ...home, content: 'lives in Porto' }));

    expect(await explain('fact', id, 5)).toMatchObject({ came: true, place: 1 });
    expect(await explain('fact', id, 15)).toMatchObject({
      stage: 'validity',
      reason: expect.stringContaining('superseded'),
    });
    expect(await explain('fact', id, -1)).toMatchObject({
      stage: 'not_found',
      reason: `fact ${id} was not there then`,
    });
  });

  it('finds what was forgotten since, and says so from then on', async () => {
    const { id } = await storeEpisode(context, { butler: 'alfred', content: 'the user lives in the city' });
    await retrieval.after(2, () => forgetMemory(context, { type: 'episode', id }));

    expect(await explain('episode', id, 1)).toMatchObject({ came: true });
    expect(await explain('episode', id, 3)).toMatchObject({ stage: 'forgotten' });
  });

  it('applies the other filters to that state too', async () => {
    const { id } = await storeFact(context, { subject: 'user', predicate: 'city', content: 'lives in Lisbon' });
    const asked = { query: 'user city lives', memory: { type: 'fact' as const, id }, asOf: daysLater(1) };
    const about = (subject: string): Promise<MemoryExplanation> =>
      retrieval.after(2, () => explainMemory(context, { ...asked, subject }));

    expect(await about('user')).toMatchObject({ came: true });
    expect(await about('guest')).toMatchObject({
      stage: 'filter',
      reason: 'it does not pass what was asked of its subject',
    });
  });
});
