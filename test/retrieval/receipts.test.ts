import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { referenceKey } from '../../src/memory/memories.ts';
import { buildContext, type ContextOutcome } from '../../src/retrieval/context/context.ts';
import { explainReceipt } from '../../src/retrieval/explain/explain-receipt.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { writeChoice, type ReceiptChoice } from '../../src/retrieval/receipts/receipt-form.ts';
import {
  draftReceipt,
  fingerprintOf,
  getReceipt,
  keepReceipts,
  listDropped,
  listReceiptsOf,
  type ReceiptSubject,
} from '../../src/retrieval/receipts/receipts.ts';
import { replayReceipt } from '../../src/retrieval/receipts/replay.ts';
import { searchMemories, type SearchOutcome } from '../../src/retrieval/search.ts';
import { newTenant, useRetrieval } from './setup.ts';
import { confirmMemory, editRule, forgetMemory, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

async function keepReceipt(context: MemoryContext, outcome: SearchOutcome, about: ReceiptSubject): Promise<string> {
  const [id] = await keepReceipts(context, [draftReceipt(context, outcome, about)]);
  return id as string;
}

const retrieval = useRetrieval();
let context: MemoryContext;
let subjects = 0;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

const fact = (content: string, more: Partial<StoreFactInput> = {}): Promise<{ id: string }> =>
  storeFact(context, { subject: `guest ${++subjects}`, predicate: 'habit', content, ...more });
const build = (tokenBudget?: number, by = context): Promise<ContextOutcome> =>
  buildContext(by, { triggerPrompt: 'What about tea?', butler: 'health', tokenBudget, sessionId });
const sessionId = '01890000-0000-7000-8000-000000000001';
const unknownId = '01890000-0000-7000-8000-00000000ffff';

describe('the receipt of a context', () => {
  it('keeps what was asked, shown and spent', async () => {
    const { id } = await fact('drinks tea');
    const { receiptId, tokensUsed } = await build();
    const receipt = await getReceipt(context, receiptId);

    expect(receipt).toMatchObject({
      kind: 'context',
      butler: 'health',
      sessionId,
      requestId: context.requestContext.requestId,
      query: 'What about tea?',
      intent: 'general',
      memoryIds: [id],
      fingerprints: [fingerprintOf('Drinks  TEA!')],
      tokenBudget: 3000,
      tokensUsed,
      tokenizer: 'o200k',
      createdAt: context.now(),
      expiresAt: await retrieval.after(30, async () => context.now()),
    });
    expect(receipt.chosen).toEqual([
      {
        type: 'fact',
        id,
        version: 1,
        score: expect.any(Number) as number,
        section: 'facts',
        tokens: expect.any(Number) as number,
        lineDigest: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        leftOut: [],
        conflicts: [],
      },
    ]);
    expect(Object.keys(receipt.stageMilliseconds)).toEqual(expect.arrayContaining(['embed', 'candidates', 'fit']));
  });

  it('keeps the score parts of what was ranked, and the stage of what was dropped', async () => {
    const shown = await fact('drinks tea');
    const irrelevant = await fact('wooden furniture polish');
    const tooLong = await fact(`drinks tea ${'and then drinks more tea '.repeat(40)}`);
    const receipt = await getReceipt(context, (await build(200)).receiptId);
    const candidate = receipt.candidates.find(({ memory }) => memory.id === shown.id);

    expect(candidate).toMatchObject({
      relevance: expect.any(Number) as number,
      parts: {
        match: { keywordScore: expect.any(Number) as number, similarity: expect.any(Number) as number },
        composite: { relevance: expect.any(Number) as number, importance: 0.5, recency: 1, confidence: 1 },
      },
    });
    const stages = new Map(listDropped(receipt).map(({ memory, droppedBy }) => [memory.id, droppedBy]));
    expect(stages.get(tooLong.id)).toBe('too_long');
    expect(stages.get(irrelevant.id)).toMatch(/relevance_floor|min_similarity/);
    expect(stages.has(shown.id)).toBe(false);
  });

  it('names so many of the dropped as configured and counts the others', async () => {
    for (let place = 0; place < 10; place += 1) await fact(`tea number ${place}`);
    const by = retrieval.context({ principal: context.principal, retrieval: { receiptCandidates: 3 } });
    const { receiptId, sections } = await build(120, by);
    const receipt = await getReceipt(by, receiptId);
    const shown = sections.flatMap(({ items }) => items).length;

    expect(shown).toBeGreaterThan(0);
    expect(listDropped(receipt)).toHaveLength(3);
    expect(receipt.candidates).toHaveLength(shown + 3);
    expect(receipt.droppedUnnamed.reduce((sum, { count }) => sum + count, 0)).toBe(10 - shown - 3);
  });

  it('is kept for an empty context, too', async () => {
    const { receiptId } = await build(0);

    expect(await getReceipt(context, receiptId)).toMatchObject({ chosen: [], memoryIds: [], tokensUsed: 0 });
  });

  it('has another configuration digest when a setting differs, and the same when none does', async () => {
    const digest = async (by: MemoryContext): Promise<string> =>
      (await getReceipt(by, (await build(100, by)).receiptId)).configurationDigest;
    const changed = retrieval.context({ principal: context.principal, retrieval: { rrfK: 61 } });

    expect(await digest(changed)).not.toBe(await digest(context));
    expect(await digest(retrieval.context({ principal: context.principal }))).toBe(await digest(context));
  });

  it('that cannot be kept fails the context', async () => {
    await fact('drinks tea');
    const { db } = context;
    const broken: MemoryContext = {
      ...context,
      db: {
        ...db,
        roundTrip: async (statements, settings) => {
          if (statements.some(({ text }) => text.includes('INSERT INTO context_receipts')))
            throw new Error('no receipt');
          return db.roundTrip(statements, settings);
        },
      },
    };

    await expect(build(undefined, broken)).rejects.toThrow('no receipt');
  });
});

describe('a receipt', () => {
  it('of a recall or a search keeps results, versions and drops', async () => {
    const { id } = await fact('drinks tea');
    await confirmMemory(context, { type: 'fact', id });
    await fact('drinks tea with milk');
    const recalled = await recallMemories(context, { topic: 'drinks tea', limit: 1 });
    const searched = await searchMemories(context, { query: 'drinks tea', limit: 1 });

    for (const [kind, outcome] of [['recall', recalled] as const, ['search', searched] as const]) {
      const receipt = await getReceipt(context, await keepReceipt(context, outcome, { kind, butler: 'health' }));
      expect(receipt).toMatchObject({ kind, butler: 'health', query: 'drinks tea', tokenizer: null, memoryIds: [id] });
      expect(receipt.chosen).toMatchObject([{ type: 'fact', id, version: 2, section: null }]);
      expect(listDropped(receipt)).toMatchObject([{ droppedBy: 'limit' }]);
    }
  });

  it('tells what was ranked and shown as it was, to five decimal places', async () => {
    for (const content of ['drinks tea', 'tea with milk in the garden', 'wooden furniture']) await fact(content);
    await storeEpisode(context, { butler: 'health', content: 'Is there tea?', sessionId });
    const types = ['fact', 'episode'] as const;
    const recalled = await recallMemories(context, { topic: 'drinks tea', types, limit: 2 });
    const receipt = await getReceipt(context, await keepReceipt(context, recalled, { kind: 'recall' }));
    const rounded = <T extends object>(value: T): T =>
      JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
        typeof inner === 'number' ? Math.round(inner * 1e5) / 1e5 : inner,
      ) as T;
    const ranked = recalled.considered.map(({ memory: { type, id }, ...scores }) =>
      rounded({ memory: { type, id }, ...scores }),
    );

    expect(ranked).toHaveLength(4);
    expect(receipt.candidates).toEqual(ranked);
    expect(receipt.chosen).toEqual(
      recalled.results.map(({ memory: { type, row }, score }) => {
        return {
          type,
          id: row.id,
          version: 1,
          ...rounded({ score }),
          section: null,
          tokens: null,
          lineDigest: null,
          leftOut: [],
          conflicts: [],
        };
      }),
    );
  });

  it('is not there when unknown, expired, of another tenant or of another butler', async () => {
    const { receiptId } = await build();
    const butler = (name: string): MemoryContext =>
      retrieval.context({ principal: { ...context.principal, role: 'butler', butler: name } });
    const missing = { code: 'NOT_FOUND' };

    await expect(getReceipt(context, unknownId)).rejects.toMatchObject(missing);
    await expect(getReceipt(context, 'x')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(getReceipt(retrieval.context({ principal: newTenant() }), receiptId)).rejects.toMatchObject(missing);
    await expect(getReceipt(butler('travel'), receiptId)).rejects.toMatchObject(missing);
    await expect(getReceipt(butler('health'), receiptId)).resolves.toMatchObject({ id: receiptId });
    await retrieval.after(29.9, () => getReceipt(context, receiptId));
    await retrieval.after(30, () => expect(getReceipt(context, receiptId)).rejects.toMatchObject(missing));
  });

  it('is told in words', async () => {
    const { id } = await fact('drinks tea');
    const dropped = await fact('wooden furniture polish');
    const { account } = await explainReceipt(context, (await build()).receiptId);

    expect(account).toMatch(/^Receipt \S+: context for health at 2026-03-01T12:00:00.000Z, request \S+\n/);
    expect(account).toContain('Asked: "What about tea?" (taken as general)');
    expect(account).toMatch(
      new RegExp(`fact ${id} version 1: score [\\d.]+, \\d+ tokens in facts \\(relevance 0[.]\\d+,`),
    );
    expect(account).toMatch(new RegExp(`fact ${dropped.id}: (relevance_floor|min_similarity)`));
    expect(account).toMatch(/\nMilliseconds: .*embed/);
  });
});

describe('the receipts of a memory', () => {
  it('are all that showed it, newest first, with the version that each showed', async () => {
    const { id } = await fact('drinks tea');
    const other = await fact('plays chess');
    const first = await build();
    await confirmMemory(context, { type: 'fact', id });
    const second = await retrieval.after(1, () => build());
    const references = [
      { type: 'fact' as const, id },
      { type: 'fact' as const, id: other.id },
    ];
    const receipts = await listReceiptsOf(context, references, 10);

    expect(receipts.get(referenceKey({ type: 'fact', id }))).toMatchObject([
      { id: second.receiptId, kind: 'context', butler: 'health', sessionId, query: 'What about tea?', version: 2 },
      { id: first.receiptId, version: 1, createdAt: context.now() },
    ]);
    expect(receipts.get(referenceKey({ type: 'fact', id: other.id }))).toBeUndefined();
    expect([...(await listReceiptsOf(context, references, 1)).values()].flat()).toHaveLength(1);
  });

  it('are those of several memories under the key of each, and within the tenant', async () => {
    const facts = [await fact('drinks tea'), await fact('pours tea')];
    await build();
    const references = facts.map(({ id }) => ({ type: 'fact' as const, id }));
    const stranger = retrieval.context({ principal: newTenant() });

    expect([...(await listReceiptsOf(context, references, 10)).keys()].toSorted()).toEqual(
      references.map(referenceKey).toSorted(),
    );
    expect((await listReceiptsOf(stranger, references, 10)).size).toBe(0);
    expect((await listReceiptsOf(context, [], 10)).size).toBe(0);
  });
});

describe('a replay', () => {
  it('gives the same bytes after all that it showed was changed and forgotten', async () => {
    const identity = await fact('is called Ada', { subject: 'user', predicate: 'name', permanence: 'permanent' });
    const changed = await fact('drinks tea', { subject: 'guest', predicate: 'drink' });
    const forgotten = await fact('pours tea', { permanence: 'volatile', confidence: 0.9 });
    const rule = await storeRule(context, { content: 'Serve tea hot' });
    const episode = await storeEpisode(context, { butler: 'health', content: 'tea [was] served' });
    const { text, receiptId } = await retrieval.after(3, () => build());
    expect(text.split('\n- ')).toHaveLength(6);

    await retrieval.after(4, async () => {
      await storeFact(context, { subject: 'guest', predicate: 'drink', content: 'drinks coffee' });
      await forgetMemory(context, { type: 'fact', id: forgotten.id });
      await confirmMemory(context, { type: 'fact', id: identity.id });
      await editRule(context, { ruleId: rule.id, content: 'Serve tea iced' });
      await forgetMemory(context, { type: 'rule', id: rule.id });
      await forgetMemory(context, { type: 'episode', id: episode.id });
    });

    await retrieval.after(20, async () => {
      const replay = await replayReceipt(context, receiptId);
      expect(replay.text).toBe(text);
      expect(replay).toMatchObject({ isExact: true, missing: [], changed: [] });
      expect(replay.memories.map(({ row }) => row.id).toSorted()).toEqual(
        [identity.id, changed.id, forgotten.id, rule.id, episode.id].toSorted(),
      );
      expect((await build()).text).not.toBe(text);
    });
  });

  it('of a recall gives the memories as they were', async () => {
    const { id } = await fact('drinks tea');
    const receiptId = await keepReceipt(context, await recallMemories(context, { topic: 'tea' }), { kind: 'recall' });
    await forgetMemory(context, { type: 'fact', id });
    const { text, memories, isExact } = await replayReceipt(context, receiptId);

    expect(text).toBeNull();
    expect(isExact).toBe(true);
    expect(memories).toMatchObject([{ type: 'fact', row: { id, validity: 'active', version: 1 } }]);
  });

  it('says what it cannot show any more, and what it would show otherwise', async () => {
    const { id } = await fact('drinks tea');
    const { receiptId } = await build();
    const { tenantId } = context.principal;
    const where = { tenantId_id: { tenantId, id: receiptId } };
    const { chosen } = await getReceipt(context, receiptId);
    const choose = (change: Partial<ReceiptChoice>): Promise<unknown> =>
      context.db.client.contextReceipt.update({
        where,
        data: { chosen: [writeChoice({ ...(chosen[0] as ReceiptChoice), ...change })] as never },
      });

    await choose({ version: 9 });
    expect(await replayReceipt(context, receiptId)).toMatchObject({ isExact: false, missing: [{ id }], text: '' });
    await choose({ lineDigest: 'other' });
    expect(await replayReceipt(context, receiptId)).toMatchObject({ isExact: false, changed: [{ id }], missing: [] });
  });
});
