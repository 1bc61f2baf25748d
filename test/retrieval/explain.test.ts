import { beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import type { MemoryReference } from '../../src/memory/links/links.ts';
import { getMemory } from '../../src/memory/memories.ts';
import {
  explainMemory,
  type ExplainContextInput,
  type ExplainQueryInput,
  type MemoryExplanation,
} from '../../src/retrieval/explain/explain.ts';
import { newTenant, useRetrieval } from './setup.ts';
import { disableRule, forgetMemory, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;
let subjects = 0;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

const fact = async (content: string, more: Partial<StoreFactInput> = {}): Promise<MemoryReference> => {
  const { id } = await storeFact(context, { subject: `guest ${++subjects}`, predicate: 'habit', content, ...more });
  return { type: 'fact', id };
};
const rule = async (content: string): Promise<MemoryReference> => {
  return { type: 'rule', id: (await storeRule(context, { content })).id };
};
const episode = async (content: string, butler = 'health'): Promise<MemoryReference> => {
  return { type: 'episode', id: (await storeEpisode(context, { content, butler })).id };
};
const inRecall = (memory: MemoryReference, more: Partial<ExplainQueryInput> = {}): Promise<MemoryExplanation> =>
  explainMemory(context, { memory, query: 'drinks tea', ...more });
const inContext = (
  memory: MemoryReference,
  more: Partial<ExplainContextInput> = {},
  by = context,
): Promise<MemoryExplanation> => explainMemory(by, { memory, triggerPrompt: 'drinks tea', butler: 'health', ...more });

function configured(settings: Partial<Config['memory']['retrieval']['context']>): MemoryContext {
  const changed = { ...context.config.memory.retrieval.context, ...settings };
  return retrieval.context({ principal: context.principal, retrieval: { context: changed } });
}

describe('a memory that comes', () => {
  it('is explained by its place and score parts', async () => {
    const memory = await fact('drinks tea');

    expect(await inRecall(memory)).toMatchObject({
      memory,
      kind: 'recall',
      came: true,
      stage: null,
      place: 1,
      ranked: {
        relevance: expect.closeTo(1, 1),
        parts: {
          composite: { importance: 0.5 },
          match: { keywordRank: 1, coverage: 1, subjectPenalty: expect.closeTo(0.06, 2) },
        },
      },
    });
    expect(await inRecall(memory, { kind: 'search' })).toMatchObject({
      kind: 'search',
      came: true,
      ranked: { parts: { composite: null } },
    });
    expect(await inContext(memory)).toMatchObject({ kind: 'context', came: true, section: 'facts', place: 1 });
  });

  it('is neither referenced nor put on a receipt by that', async () => {
    const memory = await fact('drinks tea');
    await inContext(memory);
    await inRecall(memory);

    expect((await getMemory(context, memory)).row.referenceCount).toBe(0);
    expect(await context.db.client.contextReceipt.count()).toBe(0);
  });
});

describe('a memory that does not come is dropped by', () => {
  const stageOf = async (explanation: Promise<MemoryExplanation>): Promise<string | null> => {
    const { came, stage, reason } = await explanation;
    expect(came).toBe(false);
    expect(reason).not.toBe('');
    return stage;
  };

  it('not_found when it is unknown or of another tenant', async () => {
    const memory = await fact('drinks tea');
    const stranger = retrieval.context({ principal: newTenant() });

    expect(await stageOf(inContext({ type: 'fact', id: '01890000-0000-7000-8000-00000000ffff' }))).toBe('not_found');
    expect(await stageOf(inContext({ ...memory, type: 'rule' }))).toBe('not_found');
    expect(await stageOf(inContext(memory, {}, stranger))).toBe('not_found');
  });

  it('scope when it is for another butler, which a butler is not told', async () => {
    const memory = await fact('drinks tea', { scope: 'travel' });
    const butler = retrieval.context({ principal: { ...context.principal, role: 'butler', butler: 'health' } });

    expect(await stageOf(inContext(memory))).toBe('scope');
    expect(await stageOf(inRecall(memory, { scope: 'health' }))).toBe('scope');
    expect(await stageOf(inContext(await episode('tea', 'travel')))).toBe('scope');
    expect(await stageOf(inContext(memory, {}, butler))).toBe('not_found');
  });

  it('type when another type is asked for', async () => {
    const memory = await episode('drinks tea');

    expect(await stageOf(inRecall(memory, { types: ['fact'] }))).toBe('type');
    expect((await inRecall(memory)).came).toBe(true);
    expect(await stageOf(inContext(memory, { includeEpisodes: false }))).toBe('type');
    expect((await inContext(memory)).came).toBe(true);
  });

  it('forgotten, whatever its type', async () => {
    const memories = [await fact('drinks tea'), await rule('drinks tea'), await episode('drinks tea')];
    for (const memory of memories) {
      await forgetMemory(context, memory);
      expect(await stageOf(inContext(memory))).toBe('forgotten');
    }
  });

  it('expired, disabled, validity or confidence by its state', async () => {
    const old = await episode('drinks tea');
    const disabled = await rule('drinks tea');
    await disableRule(context, { ruleId: disabled.id });
    const superseded = await fact('drinks tea', { subject: 'guest', predicate: 'drink' });
    await fact('drinks coffee', { subject: 'guest', predicate: 'drink' });
    const faded = await fact('drinks tea', { permanence: 'ephemeral' });

    await retrieval.after(20, async () => {
      expect(await stageOf(inContext(old))).toBe('expired');
      expect(await stageOf(inContext(disabled))).toBe('disabled');
      expect(await stageOf(inContext(superseded))).toBe('validity');
      expect(await stageOf(inContext(faded))).toBe('confidence');
      expect((await inRecall(faded, { minConfidence: 0 })).came).toBe(true);
      expect((await inRecall(superseded, { validity: ['superseded'] })).came).toBe(true);
    });
  });

  it('filter when it is not what was asked for, and says which', async () => {
    const memory = await fact('drinks tea', { tags: ['hot'], permanence: 'stable' });
    const asked: [Partial<ExplainQueryInput>, string][] = [
      [{ tags: ['cold'] }, 'tags'],
      [{ permanence: ['volatile'] }, 'permanence'],
      [{ generation: ['mid'] }, 'generation'],
      [{ subject: 'nobody' }, 'subject'],
      [{ maturity: ['proven'] }, 'maturity'],
      [{ to: new Date('2020-01-01') }, 'to'],
    ];

    for (const [filter, name] of asked) {
      expect(await inRecall(memory, filter)).toMatchObject({
        stage: 'filter',
        reason: expect.stringContaining(name) as string,
      });
    }
    expect((await inRecall(memory, { tags: ['hot'], permanence: ['stable'], generation: ['long'] })).came).toBe(true);
  });

  it('no_match when neither channel brings it', async () => {
    const memory = await fact('wooden furniture polish');

    expect(await stageOf(inRecall(memory, { mode: 'keyword' }))).toBe('no_match');
  });

  it('a floor when it hardly matches, with its scores', async () => {
    await fact('drinks tea');
    const memory = await fact('wooden furniture polish');
    const { came, stage, ranked } = await inContext(memory);

    expect(came).toBe(false);
    expect(stage).toMatch(/relevance_floor|min_similarity/);
    expect(ranked).toMatchObject({ relevance: expect.any(Number) as number });
  });

  it('limit when others rank better', async () => {
    await fact('drinks tea', { importance: 9 });
    const memory = await fact('drinks tea with milk', { importance: 1 });
    const old = await episode('wooden furniture polish');
    await retrieval.after(1, () => episode('more tea'));

    expect(await stageOf(inRecall(memory, { limit: 1 }))).toBe('limit');
    expect(await stageOf(inRecall(memory, { limit: 1, kind: 'search' }))).toBe('limit');
    await retrieval.after(1, async () =>
      expect(await stageOf(inContext(old, {}, configured({ recentEpisodes: 1 })))).toBe('relevance_floor'),
    );
  });

  it('quota, budget or too_long when there is no room for it', async () => {
    const shown = await fact('drinks tea', { importance: 9 });
    const second = await fact('drinks tea of many kinds all day long, with milk and sugar', { importance: 1 });
    const long = await fact(`drinks tea ${'drinks tea '.repeat(60)}`);
    const served = await rule('drinks tea');

    const tight = { tokenBudget: 105 };
    const onlyFacts = configured({ factsShare: 1, rulesShare: 0, episodesShare: 0 });
    expect((await inContext(shown, tight, onlyFacts)).came).toBe(true);
    expect(await stageOf(inContext(second, tight, onlyFacts))).toBe('budget');
    expect(await stageOf(inContext(served, tight, onlyFacts))).toBe('quota');
    expect(await stageOf(inContext(long, tight, onlyFacts))).toBe('too_long');
  });
});
