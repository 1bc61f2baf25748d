import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../../src/db/tables.ts';
import { sweepEmbeddings } from '../../src/lifecycle/reembed.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import type { MatchParts } from '../../src/retrieval/pipeline/ranked.ts';
import { recallMemories, type RecallInput } from '../../src/retrieval/recall.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { testConfig } from '../support/config.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { masterKey } from '../support/encryption.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

let core: TestCore;

// With the model: the hashing embedder knows no words.
beforeAll(async () => {
  const config = testConfig({ BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' });
  core = await createTestCore({ ...config, encryption: { predicates: ['medical_*'], masterKey: masterKey(1) } });
  await core.embedder.load();
});
afterAll(() => core.close());

async function readTokens(type: MemoryType, tenantId = 'default'): Promise<(string | null)[]> {
  const rows = await core.db.forTenant(tenantId).client.$queryRaw<{ tokens: string | null }[]>`
    SELECT encode(embedding_tokens, 'hex') AS tokens FROM ${Prisma.raw(memoryTables[type])}
    WHERE tenant_id = ${tenantId} ORDER BY id`;
  return rows.map(({ tokens }) => tokens);
}

async function recallParts(tenantId: string, input: RecallInput): Promise<MatchParts | null | undefined> {
  const { considered } = await recallMemories(core.context({ tenantId }), input);
  return considered[0]?.parts.match;
}

const bytesPerToken = 48;

describe('word pieces', () => {
  const tenantId = 'kept';

  beforeAll(async () => {
    const context = core.context({ tenantId });
    await storeFact(context, { subject: 'user', predicate: 'dentist', content: 'Dr Lindqvist on Harbour Street' });
    await storeRule(context, { content: 'Water the ferns every second day.' });
    await storeEpisode(context, { butler: 'general', content: 'The ferns were watered.' });
  });

  it('are kept of facts and rules beside their vectors, and of no episode', async () => {
    const [[fact], [rule], [episode]] = [
      await readTokens('fact', tenantId),
      await readTokens('rule', tenantId),
      await readTokens('episode', tenantId),
    ];

    expect((rule ?? '').length % (2 * bytesPerToken)).toBe(0);
    expect((rule ?? '').length / 2 / bytesPerToken).toBeGreaterThanOrEqual(6);
    expect((fact ?? '').length).toBeGreaterThan(0);
    expect(episode).toBeNull();
    expect(await findDifferences(core.context({ tenantId }))).toEqual([]);
  });

  it('are of at most 64 pieces of a text', async () => {
    await storeRule(core.context({ tenantId: 'long' }), { content: 'Water the ferns. '.repeat(60) });

    expect((await readTokens('rule', 'long'))[0]).toHaveLength(2 * 64 * bytesPerToken);
  });

  it('are made again with the vector, the same as before', async () => {
    const before = await readTokens('fact', tenantId);
    await core.db.asOwner((client) =>
      client.query(`UPDATE facts SET embedding = NULL, embedding_version_id = NULL, embedding_tokens = NULL
        WHERE tenant_id = '${tenantId}'`),
    );
    expect(await readTokens('fact', tenantId)).toEqual([null]);
    await sweepEmbeddings(core.context({ tenantId }), { dryRun: false });

    expect(await readTokens('fact', tenantId)).toEqual(before);
  });

  it('of a sealed fact say nothing of its content', async () => {
    for (const [place, content] of ['beriberi since the spring', 'a broken collarbone'].entries()) {
      const context = core.context({ tenantId: `sealed-${place}` });
      await storeFact(context, { subject: 'user', predicate: 'medical_condition', content });
    }
    const [first] = await readTokens('fact', 'sealed-0');

    expect(first).not.toBeNull();
    expect(await readTokens('fact', 'sealed-1')).toEqual([first]);
  });

  it('are compared with those of the question in a recall, and in no search and no look at the past', async () => {
    const topic = 'who takes care of my teeth?';
    const found = await recallParts(tenantId, { topic });
    const past = await recallParts(tenantId, { topic, asOf: core.day(1) });
    const { considered } = await searchMemories(core.context({ tenantId }), { query: topic });

    expect(found?.tokenSimilarity).toBeGreaterThan(0);
    expect(past).toMatchObject({ tokenSimilarity: null });
    expect(considered.map(({ parts }) => parts.match?.tokenSimilarity)).toContain(null);
    expect(considered.every(({ parts }) => parts.match?.tokenSimilarity === null)).toBe(true);
  });

  it('are nearer where a memory has the words that are asked for', async () => {
    const context = core.context({ tenantId: 'order' });
    const contents = ['Paints the shed green in April', 'Paints the fence white in June'];
    for (const [place, content] of contents.entries()) {
      await storeFact(context, { subject: 'user', predicate: `plan_${place}`, content });
    }
    const { considered } = await recallMemories(context, { topic: 'what colour will I paint the fence?' });
    const parts = considered.map(({ parts: { match } }) => match?.tokenSimilarity ?? Number.NaN);

    expect(considered).toHaveLength(2);
    expect(parts[0]).toBeGreaterThan(parts[1] ?? Number.NaN);
  });

  it('may be missing: a memory without them is judged by the rest', async () => {
    await core.db.asOwner((client) =>
      client.query(`UPDATE facts SET embedding_tokens = NULL WHERE tenant_id = '${tenantId}'`),
    );

    expect(await recallParts(tenantId, { topic: 'who is my dentist?' })).toMatchObject({ tokenSimilarity: null });
    const { results } = await recallMemories(core.context({ tenantId }), { topic: 'who is my dentist?' });
    expect(results[0]?.memory.row).toMatchObject({ predicate: 'dentist' });
  });
});

describe('a question for a person', () => {
  it('finds the memory that names one before another that says as much', async () => {
    const context = core.context({ tenantId: 'who' });
    const contents = ['Bins go out before seven, on the kerb', 'Bins go out before seven, by Imelda Quint'];
    for (const [place, content] of contents.entries()) {
      await storeFact(context, { subject: 'house', predicate: `bins_${place}`, content, importance: 9 - 4 * place });
    }
    const { considered } = await recallMemories(context, { topic: 'who sees to it that bins go out before seven?' });

    expect(considered.map(({ memory }) => memory.namesSomebody)).toEqual([true, false]);
  });
});
