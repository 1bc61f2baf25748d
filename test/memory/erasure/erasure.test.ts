import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepEpisodes } from '../../../src/lifecycle/cleanup.ts';
import { findChainProblems, type ChainProblem } from '../../../src/memory/history/audit-chain.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { countChanges, listChanges } from '../../../src/memory/history/diff.ts';
import { planMemoryErasure, planSubjectErasure } from '../../../src/memory/erasure/plan-erasure.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import { findMemoryAsOf, readHistory } from '../../../src/memory/history/history.ts';
import type { MemoryReference } from '../../../src/memory/links/links.ts';
import { findMemory } from '../../../src/memory/memories.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { buildContext } from '../../../src/retrieval/context/context.ts';
import { explainReceipt } from '../../../src/retrieval/explain/explain-receipt.ts';
import { recallMemories } from '../../../src/retrieval/recall.ts';
import { draftReceipt, getReceipt, keepReceipts, listDropped } from '../../../src/retrieval/receipts/receipts.ts';
import { replayReceipt } from '../../../src/retrieval/receipts/replay.ts';
import { searchMemories } from '../../../src/retrieval/search.ts';
import { claimNext, evidenceOf } from '../../lifecycle/consolidation/setup.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import {
  applyOutput,
  editRule,
  eraseMemory,
  eraseSubject,
  failRun,
  forgetMemory,
  ingestEpisodes,
  linkMemories,
  markRule,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeRule,
  undoEvent,
} from '../../support/writes.ts';

let core: TestCore;
let tenantId: string;
let tenants = 0;
beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant-${++tenants}`;
});

const context = (): MemoryContext => core.context({ tenantId });
const admin = (): MemoryContext => core.context({ tenantId, role: 'admin' });
const storeAbout = (predicate: string, content: string, subject = 'Ada'): Promise<Fact> =>
  storeFact(context(), { subject, predicate, content });
const eraseOne = (memory: MemoryReference, includeDerived = false): ReturnType<typeof eraseMemory> =>
  eraseMemory(admin(), { ...memory, confirm: memory.id, includeDerived });
const lastEvent = async (entityId: string, eventType?: string): Promise<string> => {
  const where = { entityId, ...(eventType !== undefined && { eventType }) };
  const event = await core.db
    .forTenant(tenantId)
    .client.memoryEvent.findFirstOrThrow({ where, orderBy: { sequence: 'desc' } });
  return event.id;
};

/** The tables say what the events add up to, and the events are those that were written, or say that they were erased. */
async function expectSound(): Promise<void> {
  const problems: ChainProblem[] = [];
  for await (const problem of findChainProblems(context())) problems.push(problem);
  expect(problems.map(({ kind, message }) => `${kind}: ${message}`).join()).toBe('');
  expect(await findDifferences(context())).toEqual([]);
}

/** Every table of the database that has the word anywhere in a row, whatever its schema. */
async function tablesWith(word: string): Promise<string[]> {
  return core.db.asOwner(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const hits = await client.query(`SELECT FROM ${name} AS t WHERE strpos(lower(t::text), $1) > 0 LIMIT 1`, [word]);
      if (hits.rowCount !== 0) found.push(name.replace(/^public\./, ''));
    }
    return found.toSorted();
  });
}

/** By every way that leads into the database, so that the word gets wherever a text can get. */
async function storeEverywhere(word: string): Promise<MemoryReference[]> {
  const idempotencyKey = `key ${tenantId}`;
  const first = await storeFact(context(), {
    subject: 'Ada',
    predicate: 'drink',
    content: `${word} tea`,
    tags: [word],
    metadata: { seen: word },
    idempotencyKey,
  });
  const second = await storeAbout('drink', `${word} coffee`);
  const undone = await storeAbout('food', `${word} cake`);
  await undoEvent(context(), {
    eventId: await lastEvent(undone.id, 'fact.stored'),
    idempotencyKey: `undo ${tenantId}`,
  });
  const rule = await storeRule(context(), { content: `offer ${word} first` });
  for (let mark = 0; mark < 4; mark++) {
    const evidence = { heard: word };
    await markRule(context(), { ruleId: rule.id, outcome: 'harmful', reason: `${word} was cold`, evidence });
  }
  await undoEvent(context(), { eventId: await lastEvent(rule.id, 'rule.inverted') });
  await editRule(context(), { ruleId: rule.id, content: `never offer ${word}` });
  await forgetMemory(context(), { type: 'rule', id: rule.id });
  await restoreMemory(context(), { type: 'rule', id: rule.id });
  const observed = await ingestEpisodes(context(), [
    { butler: 'home', content: `Ada asked for ${word} tea` },
    { butler: 'home', content: `Ada spilled the ${word} tea` },
  ]);
  const claim = await claimNext(context());
  const fact = { subject: 'Ada', predicate: 'asked for', content: `${word} tea` };
  await applyOutput(context(), claim.runId, {
    new_facts: [
      { ...fact, evidence: evidenceOf(...observed.slice(0, 1)) },
      { ...fact, evidence: [{ episode_id: observed[0]?.id, quote: `${word} that nobody said` }] },
      { ...fact, observed_at: word, evidence: evidenceOf(...observed.slice(0, 1)) },
    ],
  });
  const late = await storeEpisode(context(), { butler: 'home', content: `Ada praised the ${word}` });
  const failing = await claimNext(context());
  await failRun(context(), failing.runId, { reason: `cannot read "${late.content}"`, retryable: true });
  await linkMemories(context(), {
    source: { type: 'rule', id: rule.id },
    target: { type: 'fact', id: second.id },
    relation: 'supports',
  });
  const derived = await core.db.forTenant(tenantId).client.fact.findMany({ where: { predicate: 'asked for' } });
  return [
    ...[first, second, undone, ...derived].map(({ id }) => ({ type: 'fact', id }) as const),
    ...[...observed, late].map(({ id }) => ({ type: 'episode', id }) as const),
    { type: 'rule', id: rule.id },
  ];
}

async function showEverywhere(word: string): Promise<string[]> {
  const recalled = await recallMemories(context(), { topic: `${word} tea` });
  const found = await searchMemories(context(), { query: word });
  const receipts = await keepReceipts(context(), [
    draftReceipt(context(), recalled, { kind: 'recall', butler: 'home' }),
    draftReceipt(context(), found, { kind: 'search' }),
  ]);
  const given = await buildContext(context(), { triggerPrompt: `serve ${word} tea`, butler: 'home' });
  return [...receipts, given.receiptId];
}

describe('an erased memory', () => {
  it('is in no table any more, by whatever way it came in, and everything still fits', async () => {
    const word = 'quetzalcoatlus';
    const memories = await storeEverywhere(word);
    const receipts = await showEverywhere(word);
    const before = await tablesWith(word);
    expect(before).toEqual(
      expect.arrayContaining(['context_receipts', 'episodes', 'facts', 'memory_events', 'rule_applications', 'rules']),
    );

    for (const memory of memories) {
      const { counts } = await planMemoryErasure(admin(), memory);
      expect((await eraseOne(memory)).counts).toEqual(counts);
    }

    expect(await tablesWith(word)).toEqual([]);
    await expectSound();
    for (const id of receipts) {
      expect((await explainReceipt(context(), id)).account).toContain('Asked: "[erased]"');
      expect(await replayReceipt(context(), id)).toMatchObject({ isExact: false });
    }
    for (const { type, id } of memories) {
      expect(await findMemory(context(), { type, id })).toBeNull();
      expect(await findMemoryAsOf(context(), { type, id }, core.day(1))).toBeNull();
      const history = await readHistory(context(), { type, id });
      expect(history.at(-1)?.event).toMatchObject({ eventType: `${type}.erased` });
      expect(history.filter(({ memory }) => memory !== null)).toEqual([]);
    }
    const span = { from: core.day(-1), to: core.day(1) };
    expect((await countChanges(context(), span)).every(({ kind }) => kind === 'removed')).toBe(true);
    await expect(listChanges(context(), span, { offset: 0, limit: 100 })).resolves.toBeDefined();
  });

  it('is told by no receipt, but for having been shown', async () => {
    const contents = ['drinks tea', 'pours tea', 'grows tea', 'sells tea', 'likes to paint tea pots of all kinds'];
    const facts: Fact[] = [];
    for (const content of contents) facts.push(await storeAbout(content, content));
    const recalled = await recallMemories(context(), { topic: 'tea', limit: 2 });
    const [id] = await keepReceipts(context(), [draftReceipt(context(), recalled, { kind: 'recall' })]);
    const before = await getReceipt(context(), id as string);
    const { receiptId } = await buildContext(context(), { triggerPrompt: 'tea', butler: 'home', tokenBudget: 100 });
    const block = await getReceipt(context(), receiptId);
    const [shown, dropped] = [before.chosen[0], listDropped(before)[0]?.memory] as [MemoryReference, MemoryReference];
    expect([before.chosen.length, listDropped(before).length]).toEqual([2, 3]);
    expect([block.chosen.length, listDropped(block).length].every((count) => count > 0)).toBe(true);

    for (const one of [shown, dropped]) await eraseOne({ type: 'fact', id: one.id });

    for (const receipt of [before, block]) {
      const after = await getReceipt(context(), receipt.id);
      const without = <T extends MemoryReference>(all: readonly T[]): T[] =>
        all.filter((one) => one.id !== shown.id && one.id !== dropped.id);
      expect(after).toEqual({
        ...receipt,
        query: '[erased]',
        fingerprints: [],
        candidates: receipt.candidates.filter(({ memory }) => without([memory]).length > 0),
        chosen: receipt.chosen.map((one) => (without([one]).length === 0 ? { ...one, lineDigest: null } : one)),
      });
      const {
        candidates,
        chosen,
        dropped: drops,
      } = await core.db.forTenant(tenantId).client.contextReceipt.findFirstOrThrow({ where: { id: receipt.id } });
      const text = JSON.stringify([candidates, chosen, drops]);
      expect([shown.id, dropped.id].some((erased) => text.includes(erased))).toBe(false);
    }
  });

  it('leaves a receipt without content, which the chain vouches for', async () => {
    const { id } = await storeAbout('drink', 'tea');
    const erasure = await eraseOne({ type: 'fact', id });

    expect(erasure).toMatchObject({
      actor: 'admin',
      erasedAt: core.start,
      memories: [{ type: 'fact', id }],
      counts: { memories: 1, events: 1, links: 0, applications: 0, receipts: 0, idempotencyKeys: 0, runs: 0 },
    });
    expect(Object.keys(erasure.blanked as object)).toHaveLength(1);
    await expectSound();
    const tamper = (statement: string): Promise<unknown> =>
      core.db.asOwner((client) =>
        client.query(
          `ALTER TABLE erasures DISABLE TRIGGER USER; ${statement}; ALTER TABLE erasures ENABLE TRIGGER USER`,
        ),
      );
    await tamper(`UPDATE erasures SET actor = 'nobody' WHERE id = '${erasure.id}'`);
    await expect(expectSound()).rejects.toThrow('payload');
    await tamper(`UPDATE erasures SET actor = 'admin' WHERE id = '${erasure.id}'`);
    await expectSound();
    await tamper(`DELETE FROM erasures WHERE id = '${erasure.id}'`);
    await expect(expectSound()).rejects.toThrow('payload');
  });

  it('is erased once, by an admin who repeats its id, and by nobody else', async () => {
    const { id } = await storeAbout('drink', 'tea');
    const memory = { type: 'fact', id } as const;
    await expect(eraseMemory(context(), { ...memory, confirm: id })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(eraseMemory(admin(), { ...memory, confirm: 'yes' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await findMemory(context(), memory)).not.toBeNull();
    await eraseOne(memory);
    await expect(eraseOne(memory)).rejects.toThrow(/is erased already, by erasure/);
    await expect(eraseOne({ type: 'rule', id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is one whose row went long ago, too', async () => {
    const { id } = await storeEpisode(context(), { butler: 'home', content: 'pteranodon seen' });
    await core.db.asOwner((client) =>
      client.query(
        `INSERT INTO episode_tombstones SELECT tenant_id, id, butler, session_id, 'expired', created_at, now() FROM episodes WHERE id = $1`,
        [id],
      ),
    );
    await core.db.asOwner((client) => client.query('DELETE FROM episodes WHERE id = $1', [id]));
    expect(await tablesWith('pteranodon')).toEqual(['memory_events']);
    await eraseOne({ type: 'episode', id });
    expect(await tablesWith('pteranodon')).toEqual([]);
  });

  it('cannot be brought back by an undo, which says why', async () => {
    const first = await storeAbout('drink', 'tea');
    const second = await storeAbout('drink', 'coffee');
    const [stored, superseded] = [
      await lastEvent(first.id, 'fact.stored'),
      await lastEvent(first.id, 'fact.superseded'),
    ];
    const erasure = await eraseOne({ type: 'fact', id: first.id });
    for (const eventId of [stored, superseded]) {
      await expect(undoEvent(context(), { eventId })).rejects.toMatchObject({
        code: 'INVALID_TRANSITION',
        message: expect.stringContaining(`was erased, by erasure ${erasure.id}`) as string,
      });
    }
    for (const eventId of [await lastEvent(first.id, 'fact.erased'), await lastEvent(second.id, 'fact.bridged')]) {
      await expect(undoEvent(context(), { eventId })).rejects.toThrow(/belongs to the erasure of fact/);
    }
  });

  it('is not stored anew when its write is sent again', async () => {
    const input = { subject: 'Ada', predicate: 'drink', content: 'tea', idempotencyKey: 'once' };
    const { id } = await storeFact(context(), input);
    await eraseOne({ type: 'fact', id });
    await expect(storeFact(context(), input)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'idempotency_key: what was done under "once" was erased since',
    });
  });

  it('leaves a chain of facts that is read around the gap', async () => {
    const facts: Fact[] = [];
    for (const drink of ['tea', 'coffee', 'water', 'juice']) facts.push(await storeAbout('drink', drink));
    const [tea, coffee, water, juice] = facts.map(({ id }) => id) as [string, string, string, string];
    await eraseOne({ type: 'fact', id: coffee });
    await eraseOne({ type: 'fact', id: water });

    const rows = await core.db.forTenant(tenantId).client.fact.findMany({ orderBy: { createdAt: 'asc' } });
    expect(rows.map(({ id, supersedesId }) => [id, supersedesId])).toEqual(
      expect.arrayContaining([
        [tea, null],
        [juice, tea],
      ]),
    );
    const links = await core.db.forTenant(tenantId).client.memoryLink.findMany();
    expect(links.map(({ sourceId, relation, targetId }) => [sourceId, relation, targetId])).toEqual([
      [juice, 'supersedes', tea],
    ]);
    await expectSound();
    await eraseOne({ type: 'fact', id: tea });
    await expectSound();
  });

  it('leaves what was learned from it, unless that is asked for', async () => {
    const episode = await storeEpisode(context(), { butler: 'home', content: 'Ada likes tea' });
    const fact = await storeFact(context(), {
      subject: 'Ada',
      predicate: 'likes',
      content: 'tea',
      sourceEpisodeId: episode.id,
    });
    const memory = { type: 'episode', id: episode.id } as const;
    const learned = { type: 'fact', id: fact.id } as const;
    expect(await planMemoryErasure(admin(), memory)).toMatchObject({ memories: [memory], related: [learned] });
    expect(await planMemoryErasure(admin(), { ...memory, includeDerived: true })).toMatchObject({
      memories: [memory, learned],
      related: [],
    });
    expect(await planMemoryErasure(admin(), learned)).toMatchObject({ memories: [learned], related: [memory] });
    expect(await planSubjectErasure(admin(), { subject: 'Ada' })).toMatchObject({
      memories: [learned],
      related: [memory],
    });
    await eraseOne(memory);
    expect(await planMemoryErasure(admin(), learned)).toMatchObject({ related: [] });
    expect(await findMemory(context(), learned)).toMatchObject({ row: { sourceEpisodeId: episode.id } });
    await expectSound();
  });
});

describe('a query that a receipt keeps', () => {
  const ask = async (...queries: string[]): Promise<void> => {
    for (const query of queries) {
      // Of another tenant's memories, so that no receipt names the one that is erased.
      const outcome = await searchMemories(core.context({ tenantId: `${tenantId} elsewhere` }), { query });
      await keepReceipts(context(), [draftReceipt(context(), outcome, { kind: 'search' })]);
    }
  };
  const queries = async (): Promise<string[]> => {
    const rows = await core.db.forTenant(tenantId).client.contextReceipt.findMany({ orderBy: { id: 'asc' } });
    return rows.map(({ query }) => query);
  };

  it('goes with a memory that it repeats word for word, however short, and with no other', async () => {
    const { id } = await storeAbout('drink', 'Tea');
    await ask('is there tea?', 'the teapot', 'steal it');
    const { counts } = await planMemoryErasure(admin(), { type: 'fact', id });
    expect(counts.receipts).toBe(1);
    expect((await eraseOne({ type: 'fact', id })).counts).toEqual(counts);
    expect(await queries()).toEqual(['[erased]', 'the teapot', 'steal it']);
  });

  it('goes with a subject that it names, and not with one that is a part of another word', async () => {
    await storeAbout('drink', 'coffee', 'Al');
    await ask('call alice', 'what does AL drink', "Al's cup", 'general plans');
    const { confirmation } = await planSubjectErasure(admin(), { subject: 'Al' });
    await eraseSubject(admin(), { subject: 'Al', confirm: confirmation });
    expect(await queries()).toEqual(['call alice', '[erased]', '[erased]', 'general plans']);
  });

  it('goes with a rule that said so before it was edited', async () => {
    const rule = await storeRule(context(), { content: 'serve figs' });
    await editRule(context(), { ruleId: rule.id, content: 'serve dates' });
    await ask('who said serve figs', 'figs');
    await eraseOne({ type: 'rule', id: rule.id });
    expect(await queries()).toEqual(['[erased]', 'figs']);
  });
});

describe('a payload', () => {
  it('is blanked by nothing but an erasure of a memory that is gone', async () => {
    const { id } = await storeAbout('drink', 'tea');
    const event = await lastEvent(id);
    const call = (): Promise<unknown> =>
      core.db
        .forTenant(tenantId)
        .transaction(
          (transaction) =>
            transaction.$queryRaw`SELECT memory_erase_events(gen_random_uuid(), now(), 'x', 'y', '[]', '{}', ARRAY[${event}::uuid])`,
        );
    await expect(call()).rejects.toThrow(/only events of memories that are gone/);
    const update = `UPDATE memory_events SET payload = '{"erased": "00000000-0000-4000-8000-000000000001"}' WHERE id = $1`;
    await expect(core.db.asOwner((client) => client.query(update, [event]))).rejects.toThrow(/append-only/);
    await expect(
      core.db
        .forTenant(tenantId, { butler: 'home' })
        .transaction(
          (transaction) =>
            transaction.$queryRaw`SELECT memory_erase_events(gen_random_uuid(), now(), 'x', 'y', '[]', '{}', '{}'::uuid[])`,
        ),
    ).rejects.toThrow(/whole tenant/);
  });
});

describe('a subject', () => {
  it('is erased as its dry run said, however it is spelled, and what mentions it when asked for', async () => {
    const drink = await storeAbout('drink', 'tea', 'Hypatia of Alexandria');
    const food = await storeAbout('food', 'figs', 'hypatia-of_Alexandria');
    const other = await storeAbout('friend', 'Hypatia of Alexandria', 'Theon');
    const rule = await storeRule(context(), { content: 'Greet Hypatia of Alexandria first' });
    const episode = await storeEpisode(context(), { butler: 'home', content: 'Hypatia of Alexandria came' });
    await searchMemories(context(), { query: 'where is hypatia of alexandria' }).then((outcome) =>
      keepReceipts(context(), [draftReceipt(context(), outcome, { kind: 'search' })]),
    );
    const input = { subject: 'HYPATIA of alexandria' };
    const plan = await planSubjectErasure(admin(), input);
    const about = [drink, food].map(({ id }) => ({ type: 'fact', id }));
    expect(plan.memories).toEqual(expect.arrayContaining(about));
    expect(plan.memories).toHaveLength(2);
    expect(plan.related).toEqual([
      { type: 'episode', id: episode.id },
      { type: 'fact', id: other.id },
      { type: 'rule', id: rule.id },
    ]);

    expect(plan.counts).toMatchObject({ memories: 2, events: 2, receipts: 1 });
    await expect(eraseSubject(admin(), { ...input, confirm: 'yes' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(
      eraseSubject(admin(), { ...input, includeMentions: ['rule'], confirm: plan.confirmation }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const done = await eraseSubject(admin(), { ...input, confirm: plan.confirmation });
    expect(done.counts).toEqual(plan.counts);
    expect(await planSubjectErasure(admin(), input)).toMatchObject({ memories: [] });
    const all = { ...input, includeMentions: ['episode', 'fact', 'rule'] as const };
    const { confirmation } = await planSubjectErasure(admin(), all);
    await eraseSubject(admin(), { ...all, confirm: confirmation });

    expect(await tablesWith('hypatia')).toEqual([]);
    await expectSound();
  });
});

describe('what a sweep has removed', () => {
  it('is erased with its subject: its events have said it until then', async () => {
    const word = 'quillwort';
    const about = await storeAbout('flower', `${word} in spring`);
    const episode = await storeEpisode(context(), { butler: 'home', content: `Ada planted ${word}` });
    await forgetMemory(context(), { type: 'fact', id: about.id });
    core.clock.now = core.day(400);
    const config = { ...core.config, retention: { ...core.config.retention, episodes: 10, facts: 10 } };
    await sweepEpisodes({ ...context(), config }, { dryRun: false });
    expect(await findMemory(context(), { type: 'fact', id: about.id })).toBeNull();
    expect(await tablesWith(word)).toEqual(['memory_events']);

    const plan = await planSubjectErasure(admin(), { subject: 'ADA', includeMentions: ['episode'] });
    expect(plan.memories).toEqual([
      { type: 'fact', id: about.id },
      { type: 'episode', id: episode.id },
    ]);
    const confirm = plan.confirmation;
    await eraseSubject(admin(), { subject: 'ada', includeMentions: ['episode'], confirm });
    expect(await tablesWith(word)).toEqual([]);
    await expectSound();
    const after = await planSubjectErasure(admin(), { subject: 'Ada', includeMentions: ['episode'] });
    expect(after).toMatchObject({ memories: [], related: [] });
    core.clock.now = core.start;
  });
});
