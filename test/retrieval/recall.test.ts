import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { recallMemories, recallMemoriesBatch } from '../../src/retrieval/recall.ts';
import { scoreJudged, sumParts } from '../../src/retrieval/pipeline/score.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;
let subjects = 0;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

const fact = (content: string, more: Partial<StoreFactInput> = {}): Promise<{ id: string }> =>
  storeFact(context, { subject: `guest ${++subjects}`, predicate: `habit ${subjects}`, content, ...more });

async function ripen(id: string, maturity: string): Promise<void> {
  const { tenantId } = context.principal;
  const originalContent = maturity === 'anti_pattern' ? 'serve tea' : null;
  await context.db.client.rule.update({
    where: { tenantId_id: { tenantId, id } },
    data: { maturity, originalContent },
  });
}

describe('recall', () => {
  it('brings facts and rules, and consolidated episodes only when asked', async () => {
    await fact('drinks tea');
    await storeRule(context, { content: 'Serve tea at five' });
    const { id } = await storeEpisode(context, { butler: 'alfred', content: 'tea was served' });
    const where = { tenantId_id: { tenantId: context.principal.tenantId, id } };
    await context.db.client.episode.update({ where, data: { consolidationStatus: 'consolidated' } });

    const types = async (asked?: 'episode'[]): Promise<string[]> =>
      (await recallMemories(context, { topic: 'tea', types: asked })).results
        .map(({ memory }) => memory.type)
        .toSorted();
    expect(await types()).toEqual(['fact', 'rule']);
    expect(await types(['episode'])).toEqual(['episode']);
  });

  it('brings the nearest memories that name whom a question is about, however many others are nearer', async () => {
    context = retrieval.context({ principal: context.principal, retrieval: { candidates: 10 } });
    await storeFact(context, { subject: 'user', predicate: 'family', content: 'User is married to Halvor' });
    for (let place = 0; place < 12; place++) await fact(`likes herring for supper ${place}`);
    const named = await fact('opens when Halvor brings his key');
    const unnamed = await fact('opens when Ragna brings her key');
    const { considered } = await recallMemories(context, {
      topic: 'What does my husband like for supper?',
      mode: 'semantic',
      limit: 10,
    });

    const found = considered.map(({ memory }) => memory.id);
    expect(found).toContain(named.id);
    expect(found).not.toContain(unnamed.id);
  });

  it('scores by relevance, importance, recency and effective confidence as configured', async () => {
    await fact('drinks tea', { importance: 8, permanence: 'ephemeral', confidence: 0.9 });
    await retrieval.after(10, async () => {
      const { results } = await recallMemories(context, { topic: 'tea' });
      const [recency, confidence] = [0.5 ** (10 / 30), 0.9 * Math.exp(-1)];
      const [relevance = 0] = results.map((one) => one.relevance);
      const parts = { relevance, importance: 0.8, recency, confidence, maturityWeight: 1 };
      const baseline = sumParts(parts, context.config.memory.retrieval.scoreWeights);

      expect(results[0]?.parts.composite).toEqual({
        relevance,
        importance: 0.8,
        recency: expect.closeTo(parts.recency, 9),
        confidence: expect.closeTo(parts.confidence, 9),
        maturityWeight: 1,
        baseline: expect.closeTo(baseline, 9),
      });
      expect(results[0]?.score).toBeCloseTo(scoreJudged(relevance, baseline), 9);
    });
  });

  it('lets importance decide between what matches alike, and lift nothing else', async () => {
    await fact('tea in the garden', { importance: 10 });
    await fact('tea in the kitchen', { importance: 1 });
    await fact('tea and biscuits, served among roses with music', { importance: 10 });
    const weigh = (relevance: number, importance: number): MemoryContext =>
      retrieval.context({
        principal: context.principal,
        retrieval: { scoreWeights: { relevance, importance, recency: 0, confidence: 0 } },
      });

    expect(contentsOf(await recallMemories(weigh(1, 0), { topic: 'tea in the kitchen' }))[0]).toBe(
      'tea in the kitchen',
    );
    const byImportance = contentsOf(await recallMemories(weigh(0, 1), { topic: 'tea in the' }));
    expect(byImportance.slice(0, 2)).toEqual(['tea in the garden', 'tea in the kitchen']);
  });

  it('knows whom a question is about', async () => {
    const about = (subject: string, predicate: string, content: string): Promise<unknown> =>
      storeFact(context, { subject, predicate, content });
    await about('user', 'wife', 'Alina Mensah');
    await about('Alina', 'birthday', '17 February');
    await about('Gethin', 'birthday', '1 April');
    await about('user', 'birthday', '8 June');
    const firstOf = async (topic: string): Promise<string | undefined> =>
      contentsOf(await recallMemories(context, { topic }))[0];

    expect(await firstOf('When is the birthday of Gethin?')).toBe('1 April');
    expect(await firstOf("When is my wife's birthday?")).toBe('17 February');
    expect(await firstOf('When is my birthday?')).toBe('8 June');
  });

  it('brings the fact whose predicate the question names before one that is important', async () => {
    await storeFact(context, { subject: 'user', predicate: 'lives_in', content: 'Oporto', importance: 10 });
    await storeFact(context, { subject: 'user', predicate: 'employer', content: 'Initech', importance: 1 });
    const { results } = await recallMemories(context, { topic: 'where does the user work?' });

    expect(contentsOf({ results })[0]).toBe('Initech');
  });

  it('takes a pronoun without a name for the user and not for somebody who has a name', async () => {
    await storeFact(context, { subject: 'Gethin', predicate: 'hobby', content: 'Sails old boats', importance: 10 });
    await storeFact(context, { subject: 'user', predicate: 'hobby', content: 'Repairs old clocks', importance: 1 });
    const { results } = await recallMemories(context, { topic: 'What hobby does he have?' });

    expect(contentsOf({ results })[0]).toBe('Repairs old clocks');
  });

  it('leaves out what is important and has nothing to do with the topic', async () => {
    await fact('drinks tea', { importance: 1 });
    await fact('wooden furniture polish', { importance: 10 });
    const { results, considered } = await recallMemories(context, { topic: 'drinks tea' });

    expect(contentsOf({ results })).toEqual(['drinks tea']);
    expect(considered.map(({ droppedBy }) => droppedBy)).toContainEqual(expect.stringMatching(/floor|similarity/));
  });

  it('weighs a rule by its maturity and tells a warning', async () => {
    const ids: Record<string, string> = {};
    for (const maturity of ['candidate', 'established', 'proven', 'anti_pattern']) {
      ids[maturity] = (await storeRule(context, { content: `Serve tea at five, ${maturity}` })).id;
      await ripen(ids[maturity], maturity);
    }
    const { results } = await recallMemories(context, { topic: 'serve tea' });
    const score = (maturity: string): number =>
      results.find(({ memory }) => memory.row.id === ids[maturity])?.parts.composite?.baseline ?? 0;

    expect(score('candidate')).toBeLessThan(score('established'));
    expect(score('established')).toBeLessThan(score('proven'));
    expect(results.filter(({ memory }) => memory.maturity === 'anti_pattern').map(({ memory }) => memory.id)).toEqual([
      ids['anti_pattern'],
    ]);
  });

  it('takes the quotation marks and hyphens of a prompt for punctuation', async () => {
    await fact('drinks tea');

    expect(
      contentsOf(await recallMemories(context, { topic: 'She said "hello there" over tea -drinks' })),
    ).toHaveLength(1);
  });

  it('fills the limit and refuses a blank topic', async () => {
    for (let index = 0; index < 30; index += 1) await fact(`tea number ${index}`);

    expect((await recallMemories(context, { topic: 'tea', limit: 25 })).results).toHaveLength(25);
    await expect(recallMemories(context, { topic: ' ' })).rejects.toThrow(/topic must be text that is not blank/);
  });

  it('folds what says the same into the best of it, but never a rule into the warning against it', async () => {
    const rule = await storeRule(context, { content: 'Serve tea at five' });
    const twin = await storeRule(context, { content: 'serve TEA at five!', importance: 9 });
    const warning = await storeRule(context, { content: 'Serve tea at five.' });
    await ripen(warning.id, 'anti_pattern');
    const { results, considered } = await recallMemories(context, { topic: 'serve tea' });

    expect(results.map(({ memory }) => memory.id).toSorted()).toEqual([twin.id, warning.id].toSorted());
    expect(considered.find(({ memory }) => memory.id === rule.id)?.droppedBy).toBe('duplicate');
  });

  it('fills the limit beyond many that say the same', async () => {
    for (let index = 0; index < 40; index += 1)
      await storeRule(context, { content: `Serve tea at five${'!'.repeat(index)}`, importance: 9 });
    await storeRule(context, { content: 'Serve tea after the milk', importance: 1 });
    const { results, considered } = await recallMemories(context, { topic: 'serve tea', limit: 2 });

    expect(results).toHaveLength(2);
    expect(considered.filter(({ droppedBy }) => droppedBy === 'duplicate')).toHaveLength(39);
  });

  it('lets no cluster of one subject and predicate crowd out the others', async () => {
    const meal = (content: string): Promise<unknown> =>
      storeFact(context, { subject: 'guest', predicate: 'ate', content, kind: 'event', importance: 9 });
    for (const dish of ['ramen', 'soup', 'bread', 'cheese', 'fish']) await meal(`${dish} with tea for dinner`);
    await fact('tea', { importance: 1 });
    const clusterSizes = async (limit: number): Promise<number[]> => {
      const { results } = await recallMemories(context, { topic: 'tea', limit });
      const meals = results.filter(({ memory }) => memory.type === 'fact' && memory.row.predicate === 'ate').length;
      return [meals, results.length];
    };

    expect(await clusterSizes(4)).toEqual([3, 4]);
    expect(await clusterSizes(6)).toEqual([5, 6]);
    const { considered } = await recallMemories(context, { topic: 'tea', limit: 4 });
    expect(considered.filter(({ droppedBy }) => droppedBy === 'cluster')).toHaveLength(2);
  });

  it('answers several topics at once', async () => {
    await fact('drinks tea');
    await fact('plays chess');
    const outcomes = await recallMemoriesBatch(context, [{ topic: 'tea' }, { topic: 'chess' }]);

    expect(outcomes.map((outcome) => contentsOf(outcome)[0])).toEqual(['drinks tea', 'plays chess']);
  });
});
