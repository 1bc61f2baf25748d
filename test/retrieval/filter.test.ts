import { beforeEach, describe, expect, it } from 'vitest';
import { insertRow, rowOf } from '../support/rows.ts';
import { effectiveConfidence } from '../../src/memory/confidence.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { generationOf, generations, type Generational } from '../../src/memory/generation.ts';
import { searchMemories, type SearchInput, type SearchOutcome } from '../../src/retrieval/search.ts';
import { searchModes } from '../../src/retrieval/query/defaults.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { forgetMemory, markRule, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;
let subjects = 0;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

const episode = (content: string, more: object = {}): Promise<{ id: string }> =>
  storeEpisode(context, { butler: 'alfred', content, ...more });
const fact = (content: string, more: Partial<StoreFactInput> = {}): Promise<{ id: string }> =>
  storeFact(context, { subject: `guest ${++subjects}`, predicate: 'drinks', content, ...more });
const search = (input: Partial<SearchInput> = {}): Promise<SearchOutcome> =>
  searchMemories(context, { query: 'tea', ...input });

describe('who sees what', () => {
  beforeEach(async () => {
    await fact('tea for all');
    await fact('tea for health', { scope: 'health' });
    await fact('tea for money', { scope: 'money' });
    await storeRule(context, { content: 'tea rule of health', scope: 'health' });
    await episode('tea seen by health', { butler: 'health' });
    await episode('tea seen by money', { butler: 'money' });
  });
  const ofHealth = ['tea for all', 'tea for health', 'tea rule of health', 'tea seen by health'];

  it('a scope is what is global, its own, and the episodes of its butler', async () => {
    expect(contentsOf(await search({ scope: 'health' })).toSorted()).toEqual(ofHealth);
  });

  it('without a scope an operator sees all of the tenant', async () => {
    expect(contentsOf(await search())).toHaveLength(6);
  });

  it('a butler sees its own scope, asked for or not', async () => {
    context = retrieval.context({ principal: { ...context.principal, role: 'butler', butler: 'health' } });

    expect(contentsOf(await search()).toSorted()).toEqual(ofHealth);
    expect(contentsOf(await search({ scope: 'health' })).toSorted()).toEqual(ofHealth);
    expect(contentsOf(await search({ scope: 'global' }))).toEqual(['tea for all']);
    await expect(search({ scope: 'money' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it.each(searchModes)('nothing of another tenant comes in %s mode', async (mode) => {
    context = retrieval.context({ principal: newTenant() });

    expect(contentsOf(await search({ mode }))).toEqual([]);
  });
});

describe('what is gone', () => {
  it.each(searchModes)(
    'does not come in %s mode, but for forgotten facts and rules that are asked for',
    async (mode) => {
      const { tenantId } = context.principal;
      const forgottenFact = await fact('tea retracted');
      const forgottenRule = await storeRule(context, { content: 'tea rule forgotten' });
      const disabledRule = await storeRule(context, { content: 'tea rule disabled' });
      const forgottenEpisode = await episode('tea forgotten');
      await retrieval.after(-10, () => episode('tea expired'));
      await forgetMemory(context, { type: 'fact', id: forgottenFact.id });
      await forgetMemory(context, { type: 'rule', id: forgottenRule.id });
      await forgetMemory(context, { type: 'episode', id: forgottenEpisode.id });
      await context.db.client.rule.update({
        where: { tenantId_id: { tenantId, id: disabledRule.id } },
        data: { disabledAt: context.now() },
      });
      await episode('tea here');

      expect(contentsOf(await search({ mode }))).toEqual(['tea here']);
      const all = ['tea here', 'tea retracted', 'tea rule forgotten'];
      const validity = ['active', 'retracted', 'forgotten' as never] as const;
      expect(contentsOf(await search({ mode, validity })).toSorted()).toEqual(all);
      context = retrieval.context({ principal: context.principal, retrieval: { exactScanRows: 0 } });
      expect(contentsOf(await search({ mode, validity })).toSorted()).toEqual(all);
    },
  );

  it('comes as superseded only when asked for', async () => {
    await fact('tea green', { subject: 'guest' });
    await fact('tea black', { subject: 'guest' });

    expect(contentsOf(await search())).toEqual(['tea black']);
    expect(contentsOf(await search({ validity: ['superseded'] }))).toEqual(['tea green']);
  });
});

describe('confidence', () => {
  it('is measured after decay, and 0 includes what is fading', async () => {
    await fact('tea fading', { permanence: 'ephemeral' });
    await fact('tea lasting', { permanence: 'permanent' });
    await retrieval.after(20, async () => {
      expect(contentsOf(await search())).toEqual(['tea lasting']);
      expect(contentsOf(await search({ minConfidence: 0 })).toSorted()).toEqual(['tea fading', 'tea lasting']);
      expect(contentsOf(await search({ minConfidence: Math.exp(-2) - 1e-9 }))).toHaveLength(2);
      expect(contentsOf(await search({ minConfidence: Math.exp(-2) + 1e-9 }))).toEqual(['tea lasting']);
    });
  });

  it('is the same in the database and in the core', async () => {
    const stored = await storeFact(context, {
      subject: 'a',
      predicate: 'b',
      content: 'tea',
      permanence: 'volatile',
      confidence: 0.9,
    });
    await retrieval.after(11.5, async () => {
      const expected = effectiveConfidence(stored, context.now());

      expect(contentsOf(await search({ minConfidence: expected - 1e-12 }))).toEqual(['tea']);
      expect(contentsOf(await search({ minConfidence: expected + 1e-12 }))).toEqual([]);
    });
  });

  it('does not leave a warning', async () => {
    const { id } = await storeRule(context, { content: 'tea at midnight' });
    for (const reason of ['once', 'twice', 'thrice'])
      await markRule(context, { ruleId: id, outcome: 'harmful', reason });
    const { results } = await retrieval.after(400, () => search());

    expect(results).toMatchObject([{ memory: { maturity: 'anti_pattern', row: { id } } }]);
  });
});

describe('a filter', () => {
  it('by generation agrees with the generation of each memory', async () => {
    const { tenantId } = context.principal;
    await fact('tea a', { permanence: 'stable' });
    await fact('tea b', { permanence: 'permanent' });
    await fact('tea c', { permanence: 'standard' });
    await fact('tea d', { permanence: 'volatile' });
    await storeRule(context, { content: 'tea e' });
    const proven = await storeRule(context, { content: 'tea f' });
    await context.db.client.rule.update({
      where: { tenantId_id: { tenantId, id: proven.id } },
      data: { maturity: 'proven' },
    });
    await episode('tea g');
    const all = (await search()).results;

    for (const generation of generations) {
      const expected = all
        .filter(({ memory }) => generationOf({ ...memory.row, type: memory.type } as Generational) === generation)
        .map(({ memory }) => memory.row.content);
      expect(contentsOf(await search({ generation: [generation] })).toSorted()).toEqual(expected.toSorted());
    }
  });

  it('by permanence, maturity, subject, predicate, butler, tags and time lets through what fits', async () => {
    await fact('tea one', {
      subject: 'First Guest',
      predicate: 'drinks-daily',
      permanence: 'stable',
      tags: ['x', 'y'],
      sourceButler: 'health',
    });
    await fact('tea two', { tags: ['x'] });
    await storeRule(context, { content: 'tea rule' });
    await episode('tea seen', { butler: 'health', tags: ['y', 'x'], observedAt: new Date('2025-06-15T00:00:00Z') });
    const found = async (filter: Partial<SearchInput>): Promise<string[]> =>
      contentsOf(await search(filter)).toSorted();

    expect(await found({ permanence: ['stable'] })).toEqual(['tea one']);
    expect(await found({ maturity: ['candidate'] })).toEqual(['tea rule']);
    expect(await found({ maturity: ['proven'] })).toEqual([]);
    expect(await found({ subject: 'first_guest' })).toEqual(['tea one']);
    expect(await found({ predicate: 'Drinks Daily' })).toEqual(['tea one']);
    expect(await found({ butler: 'health' })).toEqual(['tea one', 'tea seen']);
    expect(await found({ tags: ['x', 'y'] })).toEqual(['tea one', 'tea seen']);
    expect(await found({ from: new Date('2025-06-01T00:00:00Z'), to: new Date('2025-07-01T00:00:00Z') })).toEqual([
      'tea seen',
    ]);
    expect(await found({ from: new Date('2026-01-01T00:00:00Z'), types: ['episode'] })).toEqual([]);
    expect(await found({ types: ['rule', 'fact'] })).toEqual(['tea one', 'tea rule', 'tea two']);
    expect(await found({ subject: 'first guest', types: ['episode'] })).toEqual([]);
  });

  it.each([
    [{ types: ['node'] }, /types must be one of episode, fact, rule \(got "node"/],
    [{ types: [] }, /types must be one or more of/],
    [{ validity: ['gone'] }, /validity must be one of active/],
    [{ generation: ['old'] }, /generation must be one of eden, mid, long/],
    [{ minConfidence: 2 }, /min_confidence must be a number from 0 to 1/],
    [{ from: new Date(2000, 1), to: new Date(1999, 1) }, /to must be after from/],
    [{ scope: ' ' }, /scope must be 1 to 200/],
  ])('refuses %j', async (filter, message) => {
    await expect(search(filter as never)).rejects.toThrow(message);
  });
});

describe('filters before the limit', () => {
  /** Many rows that are nearer to the query than the few that pass the filter. */
  async function fill(): Promise<void> {
    const { tenantId } = context.principal;
    await episode('tea tea tea');
    const [version] = await context.db.client.embeddingVersion.findMany();
    const vector = async (text: string): Promise<Float32Array> => (await context.embedder.embedQuery(text)).vector;
    const near = `[${(await vector('tea')).join(',')}]`;
    const far = `[${(await vector('tea and a chair')).join(',')}]`;
    await context.db.database.asOwner(async (client) => {
      for (let index = 0; index < 400; index += 1) {
        const isWanted = index % 20 === 0;
        const row = rowOf('episodes', tenantId, {
          content: isWanted ? 'tea and a chair' : 'tea',
          tags: isWanted ? ['wanted'] : [],
          created_at: context.now(),
          embedding_version_id: version?.id,
        });
        await insertRow(client, 'episodes', {
          ...row,
          embedding: isWanted ? far : near,
          tags: JSON.stringify(row['tags']),
        });
      }
    });
  }

  it.each(searchModes)('fill the limit in %s mode, row by row and through the indexes', async (mode) => {
    await fill();
    for (const exactScanRows of [10_000, 10, 0]) {
      context = retrieval.context({ principal: context.principal, retrieval: { exactScanRows, candidates: 10 } });
      const outcome = await search({ mode, tags: ['wanted'], limit: 20 });
      expect(outcome.results).toHaveLength(20);
      expect((await search({ mode, limit: 150 })).results).toHaveLength(150);
    }
  });
});
