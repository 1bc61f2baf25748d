import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { sweepEpisodes } from '../../src/lifecycle/cleanup.ts';
import { sweepLeftovers } from '../../src/lifecycle/housekeeping.ts';
import type { SweepReport } from '../../src/lifecycle/sweep.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { readHistory } from '../../src/memory/history/history.ts';
import { loadEnds } from '../../src/memory/links/link-graph.ts';
import { getMemory } from '../../src/memory/memories.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { buildContext } from '../../src/retrieval/context/context.ts';
import { replayReceipt } from '../../src/retrieval/receipts/replay.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { insertRow, rowOf, type Row } from '../support/rows.ts';
import { newScene, type Scene, type SweepFunction } from './support.ts';
import {
  disableRule,
  forgetMemory,
  linkMemories,
  markRule,
  restoreMemory,
  storeEpisode,
  storeRule,
  undoEvent,
} from '../support/writes.ts';

let core: TestCore;
let scene: Scene;

beforeAll(async () => {
  core = await createTestCore();
});
beforeEach(() => {
  scene = newScene(core);
});
afterAll(() => core.close());

type Retention = Partial<Config['retention']>;

const keeping = (retention: Retention, context = scene.context()): MemoryContext => ({
  ...context,
  config: { ...core.config, retention: { ...core.config.retention, ...retention } },
});

/** The sweep with this retention, in whichever context it is run. */
const sweepingBy =
  (retention: Retention, sweep: SweepFunction): SweepFunction =>
  (context, options) =>
    sweep(keeping(retention, context), options);

const sweepKeeping = (retention: Retention): Promise<SweepReport> =>
  scene.sweepOnce(sweepingBy(retention, sweepEpisodes));

const secret = 'the combination of the safe is kept in the clock';
const none = { expired: 0, evicted: 0, removed: 0, failed: 0 };

describe('facts that do not count any more', () => {
  it('are kept where nothing is said, and go when their days are over', async () => {
    const forgotten = await scene.fact({ content: secret });
    const live = await scene.fact();
    await forgetMemory(scene.context(), { type: 'fact', id: forgotten.id });
    core.clock.now = new Date(core.day(10).getTime() - 1);
    expect(await sweepKeeping({})).toEqual(none);
    expect(await sweepKeeping({ facts: 10 })).toEqual(none);
    core.clock.now = core.day(10);
    expect(await sweepKeeping({ facts: 10 })).toEqual({ ...none, removed: 1 });
    expect(await scene.client.fact.findMany({ select: { id: true } })).toEqual([{ id: live.id }]);
  });

  it('count their days from the last thing that was done to them', async () => {
    const { id } = await scene.fact();
    await forgetMemory(scene.context(), { type: 'fact', id });
    await core.onDay(5, async () => {
      await restoreMemory(scene.context(), { type: 'fact', id });
      await forgetMemory(scene.context(), { type: 'fact', id });
    });
    core.clock.now = core.day(14);
    expect(await sweepKeeping({ facts: 10 })).toEqual(none);
    core.clock.now = core.day(15);
    expect(await sweepKeeping({ facts: 10 })).toEqual({ ...none, removed: 1 });
  });

  it('stay with those that superseded them for as long as one of them is there', async () => {
    const key = { subject: 'user', predicate: 'drinks' };
    const first = await scene.fact({ ...key, content: 'tea' });
    await scene.fact({ ...key, content: 'coffee' });
    const last = await scene.fact({ ...key, content: 'water' });
    core.clock.now = core.day(100);
    expect(await sweepKeeping({ facts: 10 })).toEqual(none);
    await forgetMemory(scene.context(), { type: 'fact', id: last.id });
    core.clock.now = core.day(105);
    expect(await sweepKeeping({ facts: 10 })).toEqual(none);
    expect(await getMemory(scene.context(), { type: 'fact', id: first.id })).toMatchObject({ type: 'fact' });
    core.clock.now = core.day(110);
    expect(await sweepKeeping({ facts: 10 })).toEqual({ ...none, removed: 3 });
    expect(await scene.client.fact.count()).toBe(0);
  });

  it('leave a tombstone for their links, a history, and events without a word of them', async () => {
    const fact = await scene.fact({ content: secret });
    const other = await scene.fact();
    const ends = { source: { type: 'fact', id: other.id }, target: { type: 'fact', id: fact.id } } as const;
    await linkMemories(scene.context(), { ...ends, relation: 'related_to' });
    await forgetMemory(scene.context(), { type: 'fact', id: fact.id });
    core.clock.now = core.day(10);
    await sweepKeeping({ facts: 10 });

    const found = await loadEnds(scene.context(), [ends.target]);
    expect([...found.values()]).toEqual([
      {
        kind: 'tombstone',
        tombstone: { ...ends.target, reason: 'retention', createdAt: core.start, deletedAt: core.day(10) },
      },
    ]);
    await expect(getMemory(scene.context(), ends.target)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const versions = await readHistory(scene.context(), ends.target);
    expect(versions.map(({ event }) => event.eventType)).toEqual(['fact.stored', 'fact.retracted', 'fact.removed']);
    expect(JSON.stringify(versions.at(-1)?.event.payload)).not.toContain('safe');
    const removal = await scene.lastEvent(fact.id, 'fact.removed');
    await expect(undoEvent(scene.context(), { eventId: removal })).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
    });
    expect(await findDifferences(scene.context(), core.day(5))).toEqual([]);
  });

  it('are seen as gone by the butler that saw them', async () => {
    const butler = { butler: 'home', role: 'butler' } as const;
    const fact = await scene.fact({ scope: 'home' });
    const other = await scene.fact({ scope: 'home' });
    const target = { type: 'fact', id: fact.id } as const;
    await linkMemories(scene.context(), { source: { type: 'fact', id: other.id }, target, relation: 'related_to' });
    await forgetMemory(scene.context(), target);
    core.clock.now = core.day(10);
    await sweepKeeping({ facts: 10 });
    const seenBy = async (name: string): Promise<number> => {
      const db = core.db.forTenant(scene.tenantId, { butler: name });
      const context = { ...scene.context({ ...butler, butler: name }), db };
      const links = await db.client.memoryLink.count();
      return links + (await loadEnds(context, [target])).size;
    };
    expect([await seenBy('home'), await seenBy('work')]).toEqual([2, 0]);
  });

  it('can still be shown as they were shown', async () => {
    const { id } = await scene.fact({ content: 'drinks tea at five' });
    const { receiptId } = await buildContext(scene.context(), { triggerPrompt: 'drinks tea at five', butler: 'home' });
    await forgetMemory(scene.context(), { type: 'fact', id });
    core.clock.now = core.day(10);
    await sweepKeeping({ facts: 10 });
    expect(await replayReceipt(scene.context(), receiptId)).toMatchObject({ isExact: true, missing: [] });
  });
});

describe('rules that do not count any more', () => {
  it('go with their applications when they are disabled or forgotten, and not otherwise', async () => {
    const [kept, disabled, forgotten] = [
      await storeRule(scene.context(), { content: 'Serve tea' }),
      await storeRule(scene.context(), { content: `Remember that ${secret}` }),
      await storeRule(scene.context(), { content: 'Serve coffee' }),
    ];
    await markRule(scene.context(), { ruleId: disabled.id, outcome: 'harmful', reason: secret });
    await disableRule(scene.context(), { ruleId: disabled.id });
    await forgetMemory(scene.context(), { type: 'rule', id: forgotten.id });
    core.clock.now = core.day(10);
    expect(await sweepKeeping({ facts: 10 })).toEqual(none);
    expect(await sweepKeeping({ rules: 10 })).toEqual({ ...none, removed: 2 });
    expect(await scene.client.rule.findMany({ select: { id: true } })).toEqual([{ id: kept.id }]);
    expect(await scene.client.ruleApplication.count()).toBe(0);
    expect(await scene.eventTypesOf(forgotten.id)).toEqual(['rule.stored', 'rule.forgotten', 'rule.removed']);
  });
});

describe('episodes', () => {
  it('expire no later than they may be kept', async () => {
    const episode = await storeEpisode(keeping({ episodes: 2 }), { butler: 'home', content: 'tea' });
    expect(episode.expiresAt).toEqual(core.day(2));
    const usual = await storeEpisode(keeping({ episodes: 20 }), { butler: 'home', content: 'tea' });
    expect(usual.expiresAt).toEqual(core.day(7));
  });

  it('that were stored before that was said go all the same, though they wait to be consolidated', async () => {
    await storeEpisode(scene.context(), { butler: 'home', content: 'tea' });
    core.clock.now = core.day(2);
    expect(await sweepKeeping({})).toEqual(none);
    expect(await sweepKeeping({ episodes: 2 })).toEqual({ ...none, expired: 1 });
  });
});

describe('what was written down for a while', () => {
  const insert = (table: string, columns: Row): Promise<void> =>
    core.db.asOwner(async (client) => {
      await insertRow(client, table, rowOf(table, scene.tenantId, columns));
    });
  const kept = { receipts: 0, idempotencyKeys: 0, jobRuns: 0, accessRecords: 0, consolidationRuns: 0 };

  it('is kept no longer than its tenant says', async () => {
    await insert('context_receipts', { created_at: core.day(-5), expires_at: core.day(25) });
    await insert('job_runs', { status: 'succeeded', started_at: core.day(-5), finished_at: core.day(-5) });
    const run = { status: 'succeeded', finished_at: core.day(-5), lease_expires_at: null };
    await insert('consolidation_runs', run);

    expect(await scene.sweepOnce(sweepLeftovers)).toEqual(kept);
    expect(await scene.sweepOnce(sweepingBy({ receipts: 5 }, sweepLeftovers))).toEqual({ ...kept, receipts: 1 });
    expect(await scene.sweepOnce(sweepingBy({ jobRuns: 5 }, sweepLeftovers))).toEqual({ ...kept, jobRuns: 1 });
    const runs = sweepingBy({ consolidationRuns: 5 }, sweepLeftovers);
    expect(await scene.sweepOnce(runs)).toEqual({ ...kept, consolidationRuns: 1 });
  });

  it('is a run for as long as an episode names it', async () => {
    const run = rowOf('consolidation_runs', scene.tenantId, { status: 'succeeded', finished_at: core.day(-5) });
    const { id } = await storeEpisode(scene.context(), { butler: 'home', content: 'tea' });
    await core.db.asOwner(async (client) => {
      await insertRow(client, 'consolidation_runs', run);
      await client.query('UPDATE episodes SET consolidation_run_id = $1 WHERE id = $2', [run['id'], id]);
    });
    expect(await scene.sweepOnce(sweepingBy({ consolidationRuns: 5 }, sweepLeftovers))).toEqual(kept);
  });
});

it('one tenant keeps for longer than another', async () => {
  const other = newScene(core);
  const tenants = { [other.tenantId]: { redaction: {}, retention: { facts: 100 } } };
  const config = { ...core.config, retention: { jobRuns: 30, facts: 10 }, butler: { ...core.config.butler, tenants } };
  const counts: number[] = [];
  for (const one of [scene, other]) {
    const { id } = await one.fact();
    await forgetMemory(one.context(), { type: 'fact', id });
  }
  core.clock.now = core.day(50);
  for (const one of [scene, other]) {
    const { removed = 0 } = await sweepEpisodes({ ...one.context(), config }, { dryRun: false });
    counts.push(removed);
  }
  expect(counts).toEqual([1, 0]);
});
