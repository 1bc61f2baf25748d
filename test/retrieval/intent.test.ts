import { describe, expect, it } from 'vitest';
import { routeQuery } from '../../src/retrieval/query/intent.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { findTimeRange } from '../../src/retrieval/query/time-preference.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

/** A Sunday. */
const now = new Date('2026-03-01T12:00:00.000Z');

describe('the intent of a question', () => {
  it.each([
    ["What is the user's name?", 'identity'],
    ['Who is Jane?', 'identity'],
    ['How old is she', 'identity'],
    ['What is her favourite tea?', 'preference'],
    ['Does he like opera', 'preference'],
    ['How should I greet guests?', 'procedure'],
    ['How do I reset the router', 'procedure'],
    ['When should we water the plants?', 'procedure'],
    ['When did Melanie paint a sunrise?', 'episode'],
    ['What did we talk about yesterday?', 'episode'],
    ['Who went to the lake?', 'episode'],
    ['tea', 'general'],
    ['', 'general'],
  ])('of %j is %s', (question, intent) => {
    expect(routeQuery(question, now, true).intent).toBe(intent);
  });

  it('is general when routing is off', () => {
    const routing = routeQuery('When did we eat last week?', now, false);

    expect(routing).toMatchObject({ intent: 'general', timeRange: null, asksTime: false });
    expect(new Set(Object.values(routing.typeWeights))).toEqual(new Set([1]));
  });
});

describe('the time that a question speaks of', () => {
  it.each([
    ['today', '2026-03-01', '2026-03-02'],
    ['what happened yesterday?', '2026-02-28', '2026-03-01'],
    ['the day before yesterday', '2026-02-27', '2026-02-28'],
    ['this week', '2026-02-23', '2026-03-02'],
    ['last week', '2026-02-16', '2026-02-23'],
    ['last month', '2026-02-01', '2026-03-01'],
    ['last year', '2025-01-01', '2026-01-01'],
    ['in the last 3 days', '2026-02-26', '2026-03-02'],
    ['two weeks ago', '2026-02-12', '2026-02-19'],
    ['3 days ago', '2026-02-26', '2026-02-27'],
    ['last friday', '2026-02-27', '2026-02-28'],
    ['on sunday', '2026-02-22', '2026-02-23'],
    ['in March', '2026-03-01', '2026-04-01'],
    ['in May', '2025-05-01', '2025-06-01'],
    ['in June 2024', '2024-06-01', '2024-07-01'],
    ['in 2023', '2023-01-01', '2024-01-01'],
    ['on May 8, 2023', '2023-05-08', '2023-05-09'],
    ['the 2nd of February', '2026-02-02', '2026-02-03'],
  ])('%j is from %s to %s', (question, from, to) => {
    const range = findTimeRange(question, now);

    expect([range?.from.toISOString().slice(0, 10), range?.to.toISOString().slice(0, 10)]).toEqual([from, to]);
  });

  it.each(['we may go', 'march on', 'on February 31', 'nothing of the kind', 'this is it'])(
    'is none in %j',
    (question) => {
      expect(findTimeRange(question, now)).toBeNull();
    },
  );
});

describe('a search that is routed', () => {
  const retrieval = useRetrieval();

  it('prefers rules for a procedure, facts for a preference and episodes for what happened', async () => {
    const context = retrieval.context({ principal: newTenant() });
    await storeRule(context, { content: 'tea garden guest' });
    await storeFact(context, { subject: 'tea', predicate: 'garden', content: 'guest' });
    await storeEpisode(context, { butler: 'alfred', content: 'tea garden guest' });
    const first = async (query: string): Promise<string | undefined> =>
      (await searchMemories(context, { query })).results[0]?.memory.type;

    expect(await first('how should I tea garden guest')).toBe('rule');
    expect(await first('favourite tea garden guest')).toBe('fact');
    expect(await first('when did tea garden guest')).toBe('episode');
    const off = retrieval.context({ principal: context.principal, retrieval: { intentRouting: false } });
    const { intent, results } = await searchMemories(off, { query: 'how should I tea garden guest' });
    expect(intent).toBe('general');
    expect(new Set(results.map(({ memory }) => memory.type)).size).toBe(3);
  });

  it('prefers what is of the time asked for, and leaves nothing out', async () => {
    const context = retrieval.context({ principal: newTenant() });
    const eat = (observedAt: string): Promise<unknown> =>
      storeEpisode(context, { butler: 'alfred', content: `ramen for lunch`, observedAt: new Date(observedAt) });
    await eat('2026-02-18T12:00:00Z');
    await eat('2026-02-27T12:00:00Z');
    await eat('2026-01-05T12:00:00Z');
    const { results, intent } = await searchMemories(context, { query: 'ramen for lunch last week' });

    expect(intent).toBe('episode');
    expect(results).toHaveLength(3);
    expect(results[0]?.memory.row).toMatchObject({ observedAt: new Date('2026-02-18T12:00:00Z') });
  });

  it('prefers what tells a time when one is asked for', async () => {
    const context = retrieval.context({ principal: newTenant() });
    await storeEpisode(context, { butler: 'alfred', content: 'Melanie painted a sunrise for her mother' });
    await storeEpisode(context, { butler: 'alfred', content: 'Melanie painted a sunrise on Tuesday then' });

    expect(contentsOf(await searchMemories(context, { query: 'When did Melanie paint a sunrise?' }))[0]).toContain(
      'Tuesday',
    );
  });
});
