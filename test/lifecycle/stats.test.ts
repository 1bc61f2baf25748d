import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { readStats, type Count, type MemoryStats } from '../../src/lifecycle/stats.ts';
import { toSnakeCase } from '../../src/shared/names.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import {
  disableRule,
  forgetMemory,
  markRule,
  promoteRule,
  storeEpisode,
  storeFact,
  storeRule,
} from '../support/writes.ts';

let core: TestCore;
let stats: MemoryStats;

const context = (): MemoryContext => core.context();
const store = (predicate: string, input: Partial<StoreFactInput> = {}): Promise<{ id: string }> =>
  storeFact(context(), { subject: 'user', predicate, content: 'ramen', ...input });
const execute = async (statement: string, values: unknown[]): Promise<void> => {
  await core.db.asOwner((client) => client.query(statement, values));
};
const counts = (list: Count[]): Record<string, number> =>
  Object.fromEntries(list.map(({ name, count }) => [name, count]));
/** Ten steps, of which some are not 0. */
const steps = (some: Record<number, number>): number[] => Array.from({ length: 10 }, (_, step) => some[step] ?? 0);

async function storeEpisodes(): Promise<void> {
  const old = await core.onDay(-3, () => storeEpisode(context(), { content: 'old', butler: 'health' }));
  const dead = await core.onDay(-4, () => storeEpisode(context(), { content: 'dead', butler: 'health' }));
  const forgotten = await core.onDay(-5, () => storeEpisode(context(), { content: 'forgotten', butler: 'health' }));
  const expired = await core.onDay(-6, () => storeEpisode(context(), { content: 'expired', butler: 'health' }));
  const consolidated = await storeEpisode(context(), { content: 'consolidated', butler: 'finance' });
  await storeEpisode(context(), { content: 'new', butler: 'finance' });
  await forgetMemory(context(), { type: 'episode', id: forgotten.id });
  await execute('UPDATE episodes SET expires_at = $1 WHERE id = $2', [core.start, expired.id]);
  await execute("UPDATE episodes SET consolidation_status = 'dead_letter' WHERE id = $1", [dead.id]);
  await execute("UPDATE episodes SET consolidation_status = 'consolidated' WHERE id = $1", [consolidated.id]);
  expect(old.createdAt).toEqual(core.day(-3));
}

async function storeFacts(): Promise<void> {
  await store('food', { permanence: 'permanent' });
  await store('drink', { content: 'tea' });
  await store('drink', { content: 'coffee', confidence: 0.35 });
  await store('sport', { scope: 'health', permanence: 'stable', confidence: 0 });
  await store('city', { scope: 'finance', confidence: 0.75 });
  // e^-1 of it is left.
  await core.onDay(-10, () => store('pet', { permanence: 'ephemeral' }));
  const { id } = await store('colour');
  await forgetMemory(context(), { type: 'fact', id });
}

async function storeRules(): Promise<void> {
  const [used, warned, off, forgotten] = [
    await storeRule(context(), { content: 'a' }),
    await storeRule(context(), { content: 'b', scope: 'health' }),
    await storeRule(context(), { content: 'c', scope: 'finance' }),
    await storeRule(context(), { content: 'd' }),
  ];
  await markRule(context(), { ruleId: used.id, outcome: 'helpful' });
  await promoteRule(context(), { ruleId: used.id });
  await promoteRule(context(), { ruleId: used.id });
  for (let harm = 0; harm < 3; harm++) await markRule(context(), { ruleId: warned.id, outcome: 'harmful' });
  await disableRule(context(), { ruleId: off.id });
  await forgetMemory(context(), { type: 'rule', id: forgotten.id });
}

beforeAll(async () => {
  core = await createTestCore();
  await storeEpisodes();
  await storeFacts();
  await storeRules();
  stats = await readStats(context(), {});
});
afterAll(() => core.close());

describe('the statistics', () => {
  it('count episodes that are there, and tell how long the oldest has waited', () => {
    expect(stats).toMatchObject({ scope: null, at: core.start });
    expect({ ...stats.episodes, byStatus: counts(stats.episodes.byStatus) }).toEqual({
      total: 4,
      byStatus: { pending: 2, consolidated: 1, dead_letter: 1 },
      backlog: 2,
      oldestPendingAt: core.day(-3),
      deadLetters: 1,
      nothingFound: 0,
    });
  });

  it('count live facts, and by validity the others too', () => {
    const { total, byValidity, byPermanence, confidence } = stats.facts;
    expect(total).toBe(5);
    expect(counts(byValidity)).toEqual({ active: 5, superseded: 1, retracted: 1 });
    expect(counts(byPermanence)).toEqual({ permanent: 1, stable: 1, standard: 2, ephemeral: 1 });
    expect(confidence).toEqual(steps({ 0: 1, 3: 2, 7: 1, 9: 1 }));
  });

  it('count live rules, and the effectiveness of those that were applied', () => {
    const { total, disabled, byValidity, byMaturity, confidence, effectiveness } = stats.rules;
    expect({ total, disabled }).toEqual({ total: 3, disabled: 1 });
    expect(counts(byValidity)).toEqual({ active: 3, retracted: 1 });
    expect(counts(byMaturity)).toEqual({ candidate: 1, proven: 1, anti_pattern: 1 });
    expect(confidence).toEqual(steps({ 5: 3 }));
    expect(effectiveness).toEqual(steps({ 0: 1, 9: 1 }));
  });

  it('count generations, each of them, over all types', () => {
    expect(stats.byGeneration).toEqual([
      { name: 'eden', count: 4 },
      { name: 'mid', count: 5 },
      { name: 'long', count: 3 },
    ]);
  });

  it('count one scope with what is global, and the episodes of its butler', async () => {
    const { scope, episodes, facts, rules } = await readStats(context(), { scope: ' health ' });
    expect(scope).toBe('health');
    expect(episodes).toMatchObject({ total: 2, backlog: 1 });
    expect(facts.total).toBe(4);
    expect(rules).toMatchObject({ total: 2, disabled: 0 });
  });

  it('of a tenant that stored nothing are zero', async () => {
    const { episodes, facts, rules, byGeneration } = await readStats(core.context({ tenantId: 'other' }), {});
    expect(episodes).toEqual({
      total: 0,
      byStatus: [],
      backlog: 0,
      oldestPendingAt: null,
      deadLetters: 0,
      nothingFound: 0,
    });
    expect([facts.total, rules.total]).toEqual([0, 0]);
    expect(byGeneration.map(({ count }) => count)).toEqual([0, 0, 0]);
    expect(rules.effectiveness).toEqual(steps({}));
  });

  it('say that the jobs are unknown where there is no queue, and have every one of them where there is', async () => {
    expect(stats).toMatchObject({ jobs: null, unknown: ['jobs'] });

    await installQueue(core.db);
    const { jobs, unknown } = await readStats(context(), {});
    expect(unknown).toEqual([]);
    expect(jobs?.map(({ entry }) => entry)).toEqual(Object.keys(core.config.schedule).map(toSnakeCase));
  });

  it('keep the jobs from a butler, and do not call them unknown', async () => {
    await installQueue(core.db);
    const principal = { tenantId: 'default', butler: 'health', role: 'butler' } as const;
    const { jobs, unknown, facts } = await readStats({ ...context(), principal }, {});
    expect({ jobs, unknown }).toEqual({ jobs: null, unknown: [] });
    expect(facts.total).toBeGreaterThan(0);
  });
});
