import { beforeEach, describe, expect, it } from 'vitest';
import type { Reranker } from '../../src/embedding/reranker.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { explainMemory } from '../../src/retrieval/explain/explain.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

const retrieval = useRetrieval();
let plain: MemoryContext;
let asked: { query: string; texts: readonly string[] }[];

/** Prefers texts with many letters z. */
const zealot: Reranker = {
  load: async () => undefined,
  rank: async (query, texts) => {
    asked.push({ query, texts });
    return texts.map((text) => 1 - 1 / text.split('z').length);
  },
  close: async () => undefined,
};

function withReranker(candidates = 50): MemoryContext {
  const { principal, config } = plain;
  const crossEncoder = { ...config.memory.retrieval.crossEncoder, candidates };
  const settings = { rerank: 'cross-encoder' as const, crossEncoder };
  return { ...retrieval.context({ principal, retrieval: settings }), reranker: zealot };
}

beforeEach(() => {
  plain = retrieval.context({ principal: newTenant() });
  asked = [];
});

async function storeEpisodes(...contents: string[]): Promise<string[]> {
  const stored: string[] = [];
  for (const content of contents) stored.push((await storeEpisode(plain, { butler: 'alfred', content })).id);
  return stored;
}

describe('a reranker', () => {
  it('reads the best matches with the query, and lifts what answers it', async () => {
    await storeEpisodes('tea tea tea', 'tea with zest', 'tea zzz');
    const { results } = await searchMemories(withReranker(), { query: 'tea -coffee' });

    expect(contentsOf(await searchMemories(plain, { query: 'tea -coffee' }))[0]).toBe('tea tea tea');
    expect(contentsOf({ results })[0]).toBe('tea zzz');
    expect(asked).toEqual([
      { query: 'tea', texts: expect.arrayContaining(['tea zzz', 'tea with zest', 'tea tea tea']) },
    ]);
    const scores = new Map(results.map(({ memory, parts }) => [memory.row.content, parts.match?.rerankScore]));
    expect(scores).toEqual(
      new Map([
        ['tea zzz', 3 / 4],
        ['tea with zest', 1 / 2],
        ['tea tea tea', 0],
      ]),
    );
  });

  it('counts as much as the match', async () => {
    await storeEpisodes('tea tea tea', 'tea zzz');
    const before = await searchMemories(plain, { query: 'tea' });
    const { results } = await searchMemories(withReranker(), { query: 'tea' });
    const best = before.results[0]?.score ?? 0;

    for (const { memory, score, parts } of results) {
      const relevance = before.results.find((one) => one.memory.row.id === memory.row.id)?.relevance ?? Number.NaN;
      expect(score).toBeCloseTo(best * (0.5 * relevance + 0.5 * (parts.match?.rerankScore ?? Number.NaN)), 10);
    }
    expect(results[0]?.relevance).toBe(1);
  });

  it('reads no more than configured, and leaves the others behind as they were', async () => {
    await storeEpisodes('tea', 'tea and a little milk', 'tea and milk and sugar and zzz');
    const order = contentsOf(await searchMemories(plain, { query: 'tea' }));
    const { results } = await searchMemories(withReranker(2), { query: 'tea' });

    expect(asked.map(({ texts }) => texts)).toEqual([order.slice(0, 2)]);
    expect(contentsOf({ results })).toEqual(order);
    expect(results.map(({ parts }) => parts.match?.rerankScore)).toEqual([0, 0, null]);
  });

  it('is not asked in the plain modes, nor where nothing is found', async () => {
    await searchMemories(withReranker(), { query: 'tea' });
    await storeEpisodes('tea zzz');
    for (const mode of ['keyword', 'semantic'] as const) await searchMemories(withReranker(), { query: 'tea', mode });

    expect(asked).toEqual([]);
  });

  it('reads a fact as it was embedded, and counts in a recall and in an explanation', async () => {
    const { id } = await storeFact(plain, { subject: 'guest', predicate: 'drink', content: 'tea zzz' });
    const { results } = await recallMemories(withReranker(), { topic: 'tea' });
    const explained = await explainMemory(withReranker(), { query: 'tea', memory: { type: 'fact', id } });

    expect(asked[0]?.texts).toEqual([expect.stringContaining('guest')]);
    expect(results[0]?.parts.match?.rerankScore).toBeGreaterThan(0);
    expect(explained.ranked?.parts.match?.rerankScore).toBe(results[0]?.parts.match?.rerankScore);
  });

  it('reads the text of then as of a past moment', async () => {
    const start = plain.now();
    const drink = { subject: 'guest', predicate: 'drink' };
    await storeFact(plain, { ...drink, content: 'tea' });
    await retrieval.after(10, () => storeFact(plain, { ...drink, content: 'tea zzz' }));
    const asOf = new Date(start.getTime() + 5 * 86_400_000);
    await retrieval.after(20, () => searchMemories(withReranker(), { query: 'tea', asOf }));

    expect(asked.flatMap(({ texts }) => texts).join()).not.toContain('zzz');
    expect(asked).toHaveLength(1);
  });

  it('gives the same answer each time', async () => {
    await storeEpisodes('tea zz', 'zz tea', 'tea z z', 'tea');
    const answers = new Set<string>();
    for (let time = 0; time < 5; time += 1) {
      const { results } = await searchMemories(withReranker(), { query: 'tea' });
      answers.add(JSON.stringify(results.map(({ memory, score }) => [memory.row.id, score])));
    }

    expect(answers.size).toBe(1);
  });

  it('fails the search if it fails', async () => {
    await storeEpisodes('tea');
    const broken = { ...zealot, rank: () => Promise.reject(new Error('no rank')) };

    await expect(searchMemories({ ...withReranker(), reranker: broken }, { query: 'tea' })).rejects.toThrow('no rank');
  });
});
