import { array, assert as assertProperty, asyncProperty, constantFrom, oneof, string } from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import { roundScore } from '../../src/retrieval/pipeline/ranked.ts';
import { searchMemories, searchMemoriesBatch } from '../../src/retrieval/search.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

const butler = 'alfred';
const sessionId = '0190aaaa-0000-7000-8000-000000000001';

async function store(...contents: string[]): Promise<void> {
  for (const content of contents) await storeEpisode(context, { butler, content });
}

describe('a keyword search', () => {
  it('finds a memory that has any of the words, and first the one with the rarer word', async () => {
    await store('The guest likes tea', 'The guest likes coffee', 'The guest likes rooibos', 'The post came');
    const found = await searchMemories(context, { query: 'guest rooibos', mode: 'keyword' });

    expect(contentsOf(found)[0]).toBe('The guest likes rooibos');
    expect(contentsOf(found)).toHaveLength(3);
  });

  it('prefers more occurrences of a word, and the shorter of two texts', async () => {
    await store(
      'ramen with egg',
      'ramen with egg, then ramen again',
      'ramen with egg, leek, bamboo, corn, pork and seaweed',
    );
    const found = await searchMemories(context, { query: 'ramen', mode: 'keyword' });

    expect(contentsOf(found)).toEqual([
      'ramen with egg, then ramen again',
      'ramen with egg',
      'ramen with egg, leek, bamboo, corn, pork and seaweed',
    ]);
  });

  it('computes BM25 over the lexemes', async () => {
    await store('ramen ramen egg', 'egg leek', 'corn');
    const { results } = await searchMemories(context, { query: 'ramen', mode: 'keyword' });
    const inverseFrequency = Math.log(1 + (3 - 1 + 0.5) / (1 + 0.5));
    const norm = 0.9 * (1 - 0.4 + (0.4 * 2) / (5 / 3));

    expect(results).toHaveLength(1);
    expect(results[0]?.score).toBeCloseTo((inverseFrequency * 2 * 1.9) / (2 + norm), 6);
  });

  it('knows the forms of a word', async () => {
    await store('We went camping by the lakes');

    expect(contentsOf(await searchMemories(context, { query: 'camped lake', mode: 'keyword' }))).toHaveLength(1);
  });

  it.each([
    ['TX-4711', 'Ticket TX-4711 was closed'],
    ['4711', 'Ticket TX-4711 was closed'],
    ['src/db/engines/engine.ts', 'The fault is in src/db/engines/engine.ts somewhere'],
    ['usr/local/bin', 'It was put into /usr/local/bin yesterday'],
    ['jane.doe@example.com', 'Write to jane.doe@example.com about it'],
    ['max_entries', 'The key max_entries was lowered'],
    ['550e8400-e29b-41d4-a716-446655440000', 'Order 550e8400-e29b-41d4-a716-446655440000 arrived'],
  ])('finds the identifier %s', async (query, content) => {
    await store(content, 'Nothing of the kind');

    expect(contentsOf(await searchMemories(context, { query, mode: 'keyword' }))).toEqual([content]);
  });

  it('asks for the words in quotation marks to stand together', async () => {
    await store('The blue whale dives', 'A whale in blue water');

    expect(contentsOf(await searchMemories(context, { query: '"blue whale"', mode: 'keyword' }))).toEqual([
      'The blue whale dives',
    ]);
    expect(contentsOf(await searchMemories(context, { query: '"blue whale" dives' }))).toEqual([
      'The blue whale dives',
    ]);
  });

  it('takes quotation marks in a question for a title', async () => {
    await store('A whale in blue water');

    expect(
      contentsOf(await searchMemories(context, { query: 'Who read "Blue Whale"?', mode: 'keyword' })),
    ).toHaveLength(1);
  });

  it('leaves out what is excluded', async () => {
    await store('tea with milk', 'tea with lemon', 'tea with oat milk');

    expect(contentsOf(await searchMemories(context, { query: 'tea -milk', mode: 'keyword' }))).toEqual([
      'tea with lemon',
    ]);
    expect(contentsOf(await searchMemories(context, { query: 'tea -"oat milk"' })).toSorted()).toEqual([
      'tea with lemon',
      'tea with milk',
    ]);
  });

  it.each([
    'tea"',
    '"tea',
    "tea's & | ! <-> ( ) :* tea",
    'tea%_\\',
    "'; DROP TABLE episodes; --",
    '🍵 tea 🍵',
    'tea \0 tea',
    'tea \ud800',
    'tea:A* & !b',
  ])('survives %j', async (query) => {
    await store('tea time');

    expect(contentsOf(await searchMemories(context, { query, mode: 'keyword' })).length).toBeLessThanOrEqual(1);
  });

  it('survives any text', async () => {
    await store("Tea at five o'clock: 3.5 % off \\ https://example.com/tea?at=5 -- 'tea' & \"tea\" 🍵");
    const pieces = [
      'tea',
      '"',
      "'",
      '\\',
      '-',
      '--',
      '&',
      '|',
      '!',
      '<->',
      ':*',
      '(',
      ')',
      '%',
      '🍵',
      '\0',
      '\ud800',
      '\n',
      'https://a.b/c?d',
      '-tea',
      '-"',
    ];
    const piece = constantFrom(...pieces);
    const text = oneof(
      string({ unit: 'binary' }),
      array(oneof(piece, string({ maxLength: 4 }))).map((parts) => parts.join('')),
    );
    const survives = asyncProperty(text, async (query) => {
      if (query.replaceAll('\0', '').trim() === '') return;
      const { results } = await searchMemories(context, { query, mode: 'keyword' });
      expect(results.length).toBeLessThanOrEqual(1);
    });

    await assertProperty(survives, { numRuns: 150 });
  });

  it.each(['the and of', '🍵', '""', '-', '!!!', '-the', '&'])('finds nothing for %j', async (query) => {
    await store('tea time');

    expect(contentsOf(await searchMemories(context, { query, mode: 'keyword' }))).toEqual([]);
  });

  it('still finds words with a prompt of many pages', async () => {
    await store('The violin is at the luthier', 'Lunch is at one');
    const prompt = `Where is the violin? ${'Some long and winding text follows here. '.repeat(2000)}`;
    const found = await searchMemories(context, { query: prompt, mode: 'keyword' });

    expect(contentsOf(found)).toEqual(['The violin is at the luthier']);
    expect(found.query.length).toBeLessThan(prompt.length);
  });

  it('lets episodes lend score to their neighbours in the session', async () => {
    const say = (content: string): Promise<unknown> => storeEpisode(context, { butler, sessionId, content });
    await say('Good morning to you');
    await say('Where did we leave the violin');
    await say('Rooibos, said the visitor');
    await storeEpisode(context, { butler, content: 'Rooibos, said the stranger' });
    const { results } = await searchMemories(context, { query: 'violin rooibos', mode: 'keyword' });
    const visitor = results.find(({ memory }) => memory.row.content.includes('visitor'));
    const stranger = results.find(({ memory }) => memory.row.content.includes('stranger'));

    expect(visitor?.parts.match?.keywordScore).toBeCloseTo(stranger?.parts.match?.keywordScore ?? 0, 10);
    expect(visitor?.parts.match?.lentScore).toBeGreaterThan(0);
    expect(stranger?.parts.match?.lentScore).toBe(0);
    expect(results.map(({ memory }) => memory.row.content)).not.toContain('Good morning to you');
  });
});

describe('a semantic search', () => {
  it('is ordered by similarity', async () => {
    await store('grapefruit marmalade', 'grape juice', 'a wooden chair');
    const { results } = await searchMemories(context, { query: 'grapefruit marmalade', mode: 'semantic' });
    const similarities = results.map(({ parts }) => parts.match?.similarity ?? 0);

    expect(contentsOf({ results })[0]).toBe('grapefruit marmalade');
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
    expect(similarities[0]).toBeCloseTo(1, 5);
    expect(results.map(({ score }) => score)).toEqual(similarities.map(roundScore));
  });

  it('finds through the index what it finds row by row', async () => {
    for (let index = 0; index < 60; index += 1)
      await storeEpisode(context, { butler, content: `note ${index} on tea` });
    const search = { query: 'note 17 on tea', mode: 'semantic' as const, limit: 10 };
    const throughIndex = retrieval.context({ principal: context.principal, retrieval: { exactScanRows: 0 } });

    expect(contentsOf(await searchMemories(throughIndex, search))).toEqual(
      contentsOf(await searchMemories(context, search)),
    );
  });

  it('never compares vectors of two models', async () => {
    await store('tea time');
    const otherModel: MemoryContext = {
      ...context,
      embedder: {
        ...context.embedder,
        model: { ...context.embedder.model, digest: 'another' },
        embedQuery: (text) => context.embedder.embedQuery(text),
        findFor: async () => null,
      },
    };
    const semantic = await searchMemories(otherModel, { query: 'tea time', mode: 'semantic' });
    const hybrid = await searchMemories(otherModel, { query: 'tea time' });

    expect(semantic).toMatchObject({ results: [], semanticChannel: 'model_changed' });
    expect(contentsOf(hybrid)).toEqual(['tea time']);
    expect(hybrid.results[0]?.parts.match?.similarity).toBeNull();
  });
});

describe('a hybrid search', () => {
  it('finds what either channel finds, and prefers what both find', async () => {
    await store('marmalade toast', 'marmalades', 'a chair');
    const { results } = await searchMemories(context, { query: 'marmalade toast' });

    expect(contentsOf({ results })[0]).toBe('marmalade toast');
    expect(results[0]?.parts.match).toMatchObject({ semanticRank: 1, keywordRank: 1 });
    expect(results[0]?.relevance).toBe(1);
    expect(contentsOf({ results })).toContain('a chair');
  });

  it('fuses reciprocal ranks, and tells that score beside the one of the features', async () => {
    await store('marmalade toast', 'toast');
    const { results } = await searchMemories(context, { query: 'marmalade toast' });

    expect(results.map(({ parts }) => parts.match?.fusionScore)).toEqual([
      expect.closeTo(2 / 61, 10),
      expect.closeTo(2 / 62, 10),
    ]);
    expect(results.map(({ parts }) => parts.match?.rerankScore)).toEqual(results.map(({ score }) => score));
  });

  it('goes by the reciprocal ranks alone when reranking is off', async () => {
    await store('marmalade toast', 'toast');
    const off = retrieval.context({ principal: context.principal, retrieval: { rerank: 'off', rrfK: 10 } });
    const { results } = await searchMemories(off, { query: 'marmalade toast' });

    expect(results.map(({ score }) => score)).toEqual([expect.closeTo(2 / 11, 10), expect.closeTo(2 / 12, 10)]);
    expect(results.map(({ parts }) => parts.match?.rerankScore)).toEqual([null, null]);
  });

  it('answers the same a hundred times', async () => {
    for (let index = 0; index < 30; index += 1)
      await storeEpisode(context, { butler, content: 'the same words again' });
    const answers = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      const { results } = await searchMemories(context, { query: 'same words', limit: 10 });
      answers.add(JSON.stringify(results.map(({ memory, score }) => [memory.row.id, score])));
    }

    expect(answers.size).toBe(1);
  });

  it('orders equals by age, newest first, and then by id', async () => {
    await store('the same words', 'the same words');
    await retrieval.after(1, () => storeEpisode(context, { butler, content: 'the same words', importance: 9 }));
    const { results } = await retrieval.after(2, () => searchMemories(context, { query: 'same words' }));
    const ids = results.slice(1).map(({ memory }) => memory.row.id);

    expect(results[0]?.memory.row.importance).toBe(9);
    expect(ids).toEqual(ids.toSorted());
  });

  it('searches episodes, facts and rules together', async () => {
    await store('tea for the guest');
    await storeFact(context, { subject: 'guest', predicate: 'drinks', content: 'tea' });
    await storeRule(context, { content: 'Serve tea at five' });
    const { results, considered, milliseconds } = await searchMemories(context, { query: 'tea' });

    expect(results.map(({ memory }) => memory.type).toSorted()).toEqual(['episode', 'fact', 'rule']);
    expect(considered).toHaveLength(3);
    expect(Object.keys(milliseconds).toSorted()).toEqual(['candidates', 'embed', 'fuse', 'load', 'plan']);
  });

  it('never shows vectors', async () => {
    await store('tea time');
    const { results } = await searchMemories(context, { query: 'tea' });

    expect(Object.keys(results[0]?.memory.row ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(alternate)?embedding$|vector/i)]),
    );
  });

  it('finds nothing where nothing is', async () => {
    expect(await searchMemories(context, { query: 'tea' })).toMatchObject({
      results: [],
      semanticChannel: 'no_vectors',
    });
  });
});

describe('a search', () => {
  it.each(['', '   ', '\0'])('refuses the blank query %j', async (query) => {
    await expect(searchMemories(context, { query })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it.each([0, 1001, 2.5])('refuses the limit %d', async (limit) => {
    await expect(searchMemories(context, { query: 'tea', limit })).rejects.toThrow(
      /limit must be a whole number from 1 to 1000/,
    );
  });

  it('refuses an unknown mode', async () => {
    const mode = 'psychic' as never;

    await expect(searchMemories(context, { query: 'tea', mode })).rejects.toThrow(
      /mode must be one of hybrid, semantic, keyword/,
    );
  });

  it('says what each memory was dropped by', async () => {
    await store('tea one', 'tea two', 'tea three');
    const { considered, results } = await searchMemories(context, { query: 'tea', limit: 2 });

    expect(results).toHaveLength(2);
    expect(considered.map(({ droppedBy }) => droppedBy)).toEqual([null, null, 'limit']);
  });
});

describe('a batch of searches', () => {
  it('answers each as it would be answered alone', async () => {
    await store('tea time', 'coffee time');
    const inputs = [{ query: 'tea' }, { query: 'coffee', mode: 'keyword' as const }];
    const outcomes = await searchMemoriesBatch(context, inputs);

    expect(outcomes.map(contentsOf)).toEqual([
      contentsOf(await searchMemories(context, { query: 'tea' })),
      ['coffee time'],
    ]);
  });

  it('is refused as a whole when one of them is no search', async () => {
    await expect(searchMemoriesBatch(context, [{ query: 'tea' }, { query: ' ' }])).rejects.toThrow(
      /query must be text/,
    );
  });
});
