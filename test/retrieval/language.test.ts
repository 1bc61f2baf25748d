import { describe, expect, it } from 'vitest';
import { searchMemories } from '../../src/retrieval/search.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();

describe('the configured language', () => {
  // English knows the first form as well, by chance; the other only German.
  it.each(['Hunde', 'Hunden'])('lets %s find a Hund in new memories of every type', async (query) => {
    const context = retrieval.context({ principal: newTenant(), retrieval: { language: 'german' } });
    const episode = await storeEpisode(context, { butler: 'alfred', content: 'Der Hund bellt' });
    const fact = await storeFact(context, { subject: 'user', predicate: 'pet', content: 'ein Hund' });
    const rule = await storeRule(context, { content: 'Den Hund abends ausführen' });
    const found = await searchMemories(context, { query, mode: 'keyword' });

    expect([episode.language, fact.language, rule.language]).toEqual(['german', 'german', 'german']);
    expect(contentsOf(found).toSorted()).toEqual(['Den Hund abends ausführen', 'Der Hund bellt', 'ein Hund']);
  });

  it('is English unless another is configured, whose stems are not those of German', async () => {
    const context = retrieval.context({ principal: newTenant() });
    const episode = await storeEpisode(context, { butler: 'alfred', content: 'Der Hund bellt' });

    expect(episode.language).toBe('english');
    expect(contentsOf(await searchMemories(context, { query: 'Hunden', mode: 'keyword' }))).toEqual([]);
    expect(contentsOf(await searchMemories(context, { query: 'Hund', mode: 'keyword' }))).toHaveLength(1);
  });
});
