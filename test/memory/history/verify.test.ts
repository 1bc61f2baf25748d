import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepConsolidation } from '../../../src/lifecycle/consolidation/consolidate.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { getMemory } from '../../../src/memory/memories.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, lastEventOf, type TestCore } from '../../support/core.ts';
import { insertRow, rowOf } from '../../support/rows.ts';
import {
  confirmMemory,
  demoteRule,
  disableRule,
  editRule,
  enableRule,
  forgetMemory,
  ingestEpisodes,
  linkMemories,
  markRule,
  promoteRule,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeNote,
  storeRule,
  undoEvent,
} from '../../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();
const store = (predicate: string, content: string): Promise<Fact> =>
  storeFact(context(), { subject: 'user', predicate, content, metadata: { seen: [1, 2.5, null] }, tags: ['a'] });
const execute = async (statement: string, values: unknown[] = []): Promise<void> => {
  await core.db.asOwner((client) => client.query(statement, values));
};

describe('the tables', () => {
  it('are what their events say after every kind of write', async () => {
    const episode = await storeEpisode(context(), { content: 'had lunch', butler: 'health', importance: 7.3 });
    await ingestEpisodes(context(), [{ content: 'one', butler: 'health', observedAt: core.day(-1) }]);
    await storeNote(context(), { content: 'a note', tier: 'long' });
    const food = await store('food', 'ramen');
    const successor = await core.onDay(1, () => store('food', 'soba'));
    await undoEvent(context(), { eventId: await lastEventOf(core, successor.id, 'fact.stored') });
    const rule = await storeRule(context(), { content: 'ask first', sourceEpisodeId: episode.id });
    for (const outcome of ['harmful', 'helpful', 'harmful', 'harmful'] as const) {
      await core.onDay(1 / 3, () => markRule(context(), { ruleId: rule.id, outcome, reason: 'because' }));
    }
    await undoEvent(context(), { eventId: await lastEventOf(core, rule.id, 'rule.inverted') });
    await editRule(context(), { ruleId: rule.id, content: 'ask twice' });
    await promoteRule(context(), { ruleId: rule.id });
    await demoteRule(context(), { ruleId: rule.id });
    await disableRule(context(), { ruleId: rule.id });
    await enableRule(context(), { ruleId: rule.id });
    const source = { type: 'rule', id: rule.id } as const;
    await linkMemories(context(), { source, target: { type: 'fact', id: food.id }, relation: 'supports' });
    await linkMemories(context(), { source, target: { type: 'fact', id: food.id }, relation: 'related_to' });
    const link = `rule:${rule.id} related_to fact:${food.id}`;
    await undoEvent(context(), { eventId: await lastEventOf(core, link) });
    await undoEvent(context(), { eventId: await lastEventOf(core, link) });
    await undoEvent(context(), { eventId: await lastEventOf(core, link) });
    for (const reference of [source, { type: 'episode', id: episode.id } as const]) {
      await forgetMemory(context(), reference);
      await restoreMemory(context(), reference);
    }
    await confirmMemory(context(), { type: 'fact', id: food.id });

    expect(await findDifferences(context())).toEqual([]);
  });

  it('were at every moment what the later events found', async () => {
    for (const day of [-2, 0, 0.2, 0.5, 1, 2]) {
      expect(await findDifferences(context(), core.day(day))).toEqual([]);
    }
  });

  it('do not differ by a column that only old events name, and which an undo leaves alone', async () => {
    const { id } = await storeRule(context(), { content: 'knock twice' });
    await forgetMemory(context(), { type: 'rule', id });
    const eventId = await lastEventOf(core, id, 'rule.forgotten');
    await execute('ALTER TABLE memory_events DISABLE TRIGGER USER');
    await execute(
      `UPDATE memory_events SET payload = jsonb_set(jsonb_set(payload, '{after,forgotten_at}', '"2026-03-01T12:00:00Z"'),
        '{before,forgotten_at}', 'null') WHERE id = $1`,
      [eventId],
    );
    await execute('ALTER TABLE memory_events ENABLE TRIGGER USER');

    expect(await findDifferences(context())).toEqual([]);
    await undoEvent(context(), { eventId });
    expect(await getMemory(context(), { type: 'rule', id })).toMatchObject({ row: { validity: 'active' } });
    expect(await findDifferences(context())).toEqual([]);
  });

  it('do not differ by what events leave out: references and vectors', async () => {
    await execute(
      'UPDATE facts SET reference_count = 3, last_referenced_at = now(), embedding = NULL, embedding_version_id = NULL',
    );
    await execute('UPDATE episodes SET reference_count = 3, last_referenced_at = now()');

    expect(await findDifferences(context())).toEqual([]);
  });
});

describe('what was written past the core', () => {
  it('is found, with the names of its columns', async () => {
    const fact = await store('drink', 'tea');
    await execute('UPDATE facts SET importance = 9, valid_from = now() WHERE id = $1', [fact.id]);

    expect(await findDifferences(context())).toEqual([
      { type: 'fact', id: fact.id, columns: ['importance', 'validFrom'] },
    ]);
    await execute('UPDATE facts SET importance = 5, valid_from = NULL WHERE id = $1', [fact.id]);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('is found as of the moment at which an event found something else', async () => {
    const fact = await store('hat', 'a cap');
    await execute("UPDATE facts SET content = 'a helmet' WHERE id = $1", [fact.id]);
    await core.onDay(3, () => confirmMemory(context(), { type: 'fact', id: fact.id }));

    expect(await findDifferences(context())).toEqual([]);
    expect(await findDifferences(context(), core.day(-1))).toEqual([]);
    expect(await findDifferences(context(), core.day(1))).toEqual([
      { type: 'fact', id: fact.id, columns: ['content'] },
    ]);
  });

  it('is found when a row is missing or was never told of', async () => {
    const [gone, unknown] = [await store('sport', 'chess'), rowOf('rules', 'default')];
    await execute('DELETE FROM facts WHERE id = $1', [gone.id]);
    await core.db.asOwner((client) => insertRow(client, 'rules', unknown));

    const differences = await findDifferences(context());
    expect(differences.map(({ type, id }) => ({ type, id }))).toEqual([
      { type: 'fact', id: gone.id },
      { type: 'rule', id: unknown['id'] },
    ]);
    for (const { columns } of differences) expect(columns).toEqual(expect.arrayContaining(['content', 'createdAt']));
    expect(await findDifferences(core.context({ tenantId: 'other' }))).toEqual([]);
  });

  it('is found when a link was deleted or made', async () => {
    const known = await findDifferences(context());
    const [source, target] = [await store('city', 'Rome'), await store('pet', 'cat')];
    const ends = { source: { type: 'fact', id: source.id }, target: { type: 'fact', id: target.id } } as const;
    await linkMemories(context(), { ...ends, relation: 'related_to' });
    await execute('DELETE FROM memory_links WHERE source_id = $1', [source.id]);
    const columns = { source_type: 'fact', source_id: target.id, target_type: 'fact', target_id: source.id };
    await core.db.asOwner((client) => insertRow(client, 'memory_links', rowOf('memory_links', 'default', columns)));

    const differences = (await findDifferences(context())).slice(known.length);
    expect(differences.map(({ type, id }) => ({ type, id }))).toEqual(
      [
        { type: 'link', id: `fact:${source.id} related_to fact:${target.id}` },
        { type: 'link', id: `fact:${target.id} supports fact:${source.id}` },
      ].toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    );
    expect(differences[0]?.columns).toContain('sourceId');
  });

  it('is found when a link was given another time', async () => {
    const known = await findDifferences(context());
    const [source, target] = [await store('river', 'Po'), await store('lake', 'Como')];
    const ends = { source: { type: 'fact', id: source.id }, target: { type: 'fact', id: target.id } } as const;
    await linkMemories(context(), { ...ends, relation: 'related_to' });
    expect(await findDifferences(context())).toEqual(known);
    await execute("UPDATE memory_links SET created_at = created_at - interval '1 ms' WHERE source_id = $1", [
      source.id,
    ]);

    const id = `fact:${source.id} related_to fact:${target.id}`;
    expect(await findDifferences(context())).toContainEqual({ type: 'link', id, columns: ['createdAt'] });
  });
});

describe('the judgements of a rule', () => {
  const tenantId = 'judges';
  const judge = (): MemoryContext => core.context({ tenantId });
  const differences = (): ReturnType<typeof findDifferences> => findDifferences(judge());
  const markOf = async (ruleId: string): Promise<string> =>
    (await core.db.forTenant(tenantId).client.ruleApplication.findFirstOrThrow({ where: { ruleId } })).id;

  let stored = 0;
  async function storeJudged(): Promise<{ ruleId: string; id: string }> {
    const { id: ruleId } = await storeRule(judge(), { content: `ask first, ${++stored} times` });
    await markRule(judge(), { ruleId, outcome: 'harmful', reason: 'it was late', evidence: { seen: 1.5 } });
    return { ruleId, id: await markOf(ruleId) };
  }

  it.each([
    ["outcome = 'helpful'", ['outcome']],
    ["reason = 'it was fun', evidence = '{}'", ['reason', 'evidence']],
    ["butler = 'another', session_id = gen_random_uuid(), request_id = 'r'", ['butler', 'sessionId', 'requestId']],
    ['applied_at = now()', ['appliedAt']],
    ['retired_by_event_id = gen_random_uuid()', ['retiredByEventId']],
  ])('are found when somebody sets %s', async (change, columns) => {
    const { ruleId, id } = await storeJudged();
    expect(await differences()).toEqual([]);
    await execute(`UPDATE rule_applications SET ${change} WHERE id = $1`, [id]);

    const found = await differences();
    expect(found.map(({ type }) => type)).toContain('rule_application');
    const [difference] = found;
    expect(difference).toMatchObject({ type: 'rule_application', id });
    expect(difference?.columns.toSorted()).toEqual(columns.toSorted());
    await core.db.asOwner((client) => client.query('DELETE FROM rule_applications WHERE rule_id = $1', [ruleId]));
    await execute('DELETE FROM rules WHERE id = $1', [ruleId]);
    await execute('ALTER TABLE memory_events DISABLE TRIGGER USER');
    await execute('DELETE FROM memory_events WHERE tenant_id = $1', [tenantId]);
    await execute('ALTER TABLE memory_events ENABLE TRIGGER USER');
  });

  it('are found when one is missing, was never told of, or counts though it was taken back', async () => {
    const [first, second] = [await storeJudged(), await storeJudged()];
    await undoEvent(judge(), { eventId: second.id });
    expect(await differences()).toEqual([]);
    await execute('DELETE FROM rule_applications WHERE id = $1', [first.id]);
    await execute('UPDATE rule_applications SET retired_by_event_id = NULL WHERE id = $1', [second.id]);
    const row = rowOf('rule_applications', tenantId, { rule_id: second.ruleId });
    await core.db.asOwner((client) => insertRow(client, 'rule_applications', row));

    const found = (await differences()).map(({ type, id }) => `${type} ${id}`);
    expect(found.toSorted()).toEqual(
      [
        `rule_application ${first.id}`,
        `rule_application ${row['id'] as string}`,
        `applications of rule ${first.ruleId}`,
        `applications of rule ${second.ruleId}`,
      ].toSorted(),
    );
  });
});

describe('a consolidation run', () => {
  it('is found when it does not say what its last event left it with', async () => {
    const own = core.context({ tenantId: 'runs' });
    await storeEpisode(own, { butler: 'home', content: 'My dog is Rex' });
    await sweepConsolidation(own, { dryRun: false });
    const { id } = await core.db.forTenant('runs').client.consolidationRun.findFirstOrThrow();
    expect(await findDifferences(own)).toEqual([]);
    await execute("UPDATE consolidation_runs SET status = 'failed', facts_created = 9 WHERE id = $1", [id]);

    const [difference, ...others] = await findDifferences(own);
    expect(others).toEqual([]);
    expect(difference).toMatchObject({ type: 'consolidation_run', id });
    expect(difference?.columns.toSorted()).toEqual(['factsCreated', 'status']);
  });
});
