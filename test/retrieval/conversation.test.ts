import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import { neighbourShares } from '../../src/db/sql/search-neighbours.ts';
import { explainMemory } from '../../src/retrieval/explain/explain.ts';
import { searchMemories, type SearchInput, type SearchOutcome } from '../../src/retrieval/search.ts';
import { newTenant, useRetrieval } from './setup.ts';
import { forgetMemory, ingestEpisodes } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

/** In one session, in this order. */
async function say(...contents: string[]): Promise<string[]> {
  const sessionId = randomUUID();
  const stored = await ingestEpisodes(
    context,
    contents.map((content) => ({ butler: 'alfred', content, sessionId })),
  );
  return stored.map(({ id }) => id);
}

async function find(input: SearchInput, id: string | undefined): Promise<SearchOutcome['results'][number] | undefined> {
  const { results } = await searchMemories(context, input);
  return results.find(({ memory }) => memory.row.id === id);
}

const query = 'regatta';

describe('an episode that asks something', () => {
  it.each([
    'And the regatta?',
    'And the regatta? 🙂',
    '"How was the regatta?"',
    'How was the regatta? [shares a picture: a boat, no. 7]',
    'How was the regatta? (I was ill)',
    'Was the regatta fun?!',
    'レガッタは regatta？',
  ])('is known by its end: %s', async (content) => {
    const [id] = await say(content);

    expect((await find({ query }, id))?.parts.match?.asks).toBe(true);
  });

  it.each(['The regatta was fun.', 'The regatta? It was fun', 'regatta, see https://example.com/?regatta', 'regatta'])(
    'is not taken for one that tells something: %s',
    async (content) => {
      const [id] = await say(content);

      expect((await find({ query }, id))?.parts.match?.asks).toBe(false);
    },
  );

  it('lends the reply its words and its meaning at the share of a reply', async () => {
    const [question, reply] = await say('How was the regatta?', 'Wet and cold');
    const asked = await find({ query }, question);
    const replied = await find({ query }, reply);
    const { reply: share } = neighbourShares;

    expect(replied?.parts.match?.lentScore).toBeCloseTo(share * (asked?.parts.match?.keywordScore ?? 0), 9);
    expect(replied?.parts.match?.lentSimilarity).toBeCloseTo(share * (asked?.parts.match?.similarity ?? 0), 9);
  });

  it('lends the words alone, at the other shares, to those who do not reply', async () => {
    const [before, question, , after] = await say('Good morning', 'How was the regatta?', 'Wet and cold', 'Poor you');
    const keywordScore = (await find({ query }, question))?.parts.match?.keywordScore ?? 0;
    const { next, secondPrevious } = neighbourShares;

    for (const [id, share] of [[before, next] as const, [after, secondPrevious] as const]) {
      const parts = (await find({ query }, id))?.parts.match;
      expect(parts?.lentScore).toBeCloseTo(share * keywordScore, 9);
      expect(parts?.lentSimilarity).toBeNull();
    }
  });

  it('lends nothing to another session', async () => {
    await say('How was the regatta?');
    const [id] = await say('Wet and cold');

    expect((await find({ query }, id))?.parts.match).toMatchObject({ lentScore: 0, lentSimilarity: null });
  });

  it('lends as of a past moment what it lent then', async () => {
    const start = context.now();
    const [question, reply] = await say('How was the regatta?', 'Wet and cold');
    const now = (await find({ query }, reply))?.parts.match;
    await retrieval.after(2, () => forgetMemory(context, { type: 'episode', id: question ?? '' }));
    const at = (days: number): Promise<SearchOutcome['results'][number] | undefined> =>
      retrieval.after(5, () => find({ query, asOf: new Date(start.getTime() + days * 86_400_000) }, reply));

    expect((await at(1))?.parts.match).toEqual(now);
    expect((await at(3))?.parts.match).toMatchObject({ lentScore: 0, lentSimilarity: null });
  });

  it('stands behind a reply that matches as well', async () => {
    await say('Where did the regatta start?', 'The regatta did start where it ends.');
    const { results } = await searchMemories(context, { query: 'where did the regatta start' });

    expect(results.map(({ parts }) => parts.match?.asks)).toEqual([false, true]);
  });
});

describe('a session', () => {
  it('is as near to the query as the nearest of its episodes that was found', async () => {
    const [near, far] = await say('the regatta', 'zebra crossing');
    const nearest = await find({ query: 'the regatta' }, near);

    expect((await find({ query: 'the regatta' }, far))?.parts.match?.sessionSimilarity).toBe(
      nearest?.parts.match?.similarity,
    );
  });

  it('is told by an explanation', async () => {
    const [, id] = await say('How was the regatta?', 'Wet and cold');
    const asked = { query, kind: 'search', types: ['episode'], memory: { type: 'episode', id: id ?? '' } } as const;
    const { ranked } = await explainMemory(context, asked);

    expect(ranked?.parts.match).toMatchObject({
      lentSimilarity: expect.any(Number),
      sessionSimilarity: expect.any(Number),
      asks: false,
    });
  });
});
