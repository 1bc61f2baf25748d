import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claimEpisodes } from '../../../src/lifecycle/consolidation/claim.ts';
import { consolidateWith } from '../../../src/lifecycle/consolidation/consolidate.ts';
import { sweepConsolidation } from '../../../src/lifecycle/consolidation/consolidate.ts';
import { EngineError, type ConsolidationEngine } from '../../../src/lifecycle/consolidation/engine.ts';
import type { SweepReport } from '../../../src/lifecycle/sweep.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { Episode } from '../../../src/memory/episodes/episodes.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimNext, evidenceOf, observe, passSeconds, scripted, setTo } from './setup.ts';
import { failRun, ingestEpisodes, requeueEpisodes, storeEpisode } from '../../support/writes.ts';

let core: TestCore;
let tenants = 0;
let tenantId: string;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant ${++tenants}`;
  core.clock.now = core.start;
});

const context = (): MemoryContext => core.context({ tenantId });
const store = (butler: string, ...contents: string[]): Promise<Episode[]> =>
  observe({ ...core, context }, butler, ...contents);
const sweep = (engine: ConsolidationEngine): Promise<SweepReport> => consolidateWith(context(), engine, {});
const episodes = (): Promise<Episode[]> =>
  core.db.forTenant(tenantId).client.episode.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
const statuses = async (): Promise<string[]> => (await episodes()).map((row) => row.consolidationStatus);
const countRuns = (): Promise<number> => core.db.forTenant(tenantId).client.consolidationRun.count();

/** Keeps each episode as a fact, and cannot read those that say "poison". */
const keeper = scripted(({ episodes: claimed }) => {
  if (claimed.some(({ content }) => content.includes('poison'))) return { output: 'I cannot do that.' };
  const new_facts = claimed.map(({ id, content }) => {
    return { subject: content, predicate: 'said', content, evidence: evidenceOf({ id, content }) };
  });
  return { output: { new_facts }, model: 'keeper' };
});

describe('a sweep', () => {
  it('goes on until nothing is due, and says what it did', async () => {
    await store('home', 'one', 'two', 'three');
    await store('health', 'four');
    const small = setTo(context(), { batchSize: 2 });
    const seen: number[] = [];
    const report = await consolidateWith(small, keeper, { progress: (done) => seen.push(done) });

    expect(report).toMatchObject({ runs: 3, episodes: 4, factsCreated: 4, linksCreated: 4, failedRuns: 0 });
    expect(seen).toEqual([1, 3, 4]);
    expect(await statuses()).toEqual(Array(4).fill('consolidated'));
    expect(await sweep(keeper)).toMatchObject({ runs: 0 });
    expect(await findDifferences(context())).toEqual([]);
  });

  it('ends with what was due when it began, however much is stored meanwhile', async () => {
    await store('home', 'one', 'two', 'three');
    let stored = 3;
    const busy = scripted(async () => {
      await store('home', `number ${++stored}`, `number ${++stored}`);
      return { output: { new_facts: [] } };
    });
    const report = await consolidateWith(setTo(context(), { batchSize: 1 }), busy, {});

    expect(report).toMatchObject({ runs: 3, episodes: 3 });
    expect((await statuses()).filter((status) => status === 'pending')).toHaveLength(6);
  });

  it('rests after each run, if it is to', async () => {
    await store('home', 'one', 'two', 'three');
    const rests: number[] = [];
    const rest = async (workedMs: number): Promise<void> => {
      rests.push(workedMs);
    };
    await consolidateWith(setTo(context(), { batchSize: 1 }), keeper, { rest });

    expect(rests).toHaveLength(3);
    expect(Math.min(...rests)).toBeGreaterThan(0);
  });

  it('goes on with other butlers after one has failed', async () => {
    await store('a', 'poison');
    await store('b', 'bread');
    expect(await sweep(keeper)).toMatchObject({ runs: 2, episodes: 1, failedRuns: 1 });
    expect(await statuses()).toEqual(['pending', 'consolidated']);
  });

  it('leaves a butler to the next sweep when three runs in a row have failed', async () => {
    await store('a', ...Array.from({ length: 8 }, (_, place) => `episode ${place}`));
    await store('b', 'bread');
    const failing = scripted(({ butler }) => {
      if (butler === 'a') throw new EngineError('the server is down', { retryable: true });
      return { output: { new_facts: [] } };
    });
    const report = await consolidateWith(setTo(context(), { batchSize: 2 }), failing, {});
    expect(report).toMatchObject({ runs: 4, failedRuns: 3, episodes: 1 });
    expect((await episodes()).filter((row) => row.consolidationAttempts === 0)).toHaveLength(3);
  });

  it('finds the one episode that cannot be dealt with, and keeps all of its neighbours', async () => {
    const contents = Array.from({ length: 9 }, (_, place) => (place === 4 ? 'poison' : `episode ${place}`));
    await store('home', ...contents);
    for (let day = 0; day < 6; day++) {
      core.clock.now = new Date(core.start.getTime() + day * 3_600_000);
      await consolidateWith(setTo(context(), { batchSize: 8 }), keeper, {});
    }

    expect(await statuses()).toEqual(contents.map((text) => (text === 'poison' ? 'dead_letter' : 'consolidated')));
    expect((await episodes())[4]).toMatchObject({
      consolidationAttempts: 5,
      nextConsolidationRetryAt: null,
      lastConsolidationError: 'output must be a JSON object (got text in which there is none)',
    });
    expect(await findDifferences(context())).toEqual([]);
  });

  it('stops when it is told to, and gives back what it had with no attempt counted', async () => {
    await store('home', 'one', 'two');
    const stop = new AbortController();
    const waiting = scripted((_claim, signal) => {
      stop.abort();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    });
    const report = await consolidateWith(setTo(context(), { batchSize: 1 }), waiting, { signal: stop.signal });

    expect(report).toMatchObject({ runs: 1, episodes: 0 });
    expect(await episodes()).toMatchObject([{ consolidationAttempts: 0, version: 1 }, { consolidationAttempts: 0 }]);
    expect(await core.db.forTenant(tenantId).client.consolidationRun.findMany()).toMatchObject([
      { status: 'failed', error: 'the server stopped' },
    ]);
    expect(await sweep(keeper)).toMatchObject({ runs: 1, episodes: 2 });
  });

  it('counts what is due by butler and leases nothing when it is dry', async () => {
    await store('home', 'one', 'two');
    await store('health', 'three');
    expect(await sweepConsolidation(context(), { dryRun: true })).toEqual({ due: 3, 'due:health': 1, 'due:home': 2 });
    expect(await countRuns()).toBe(0);
  });

  it.each(['off', 'agent'] as const)('leases nothing when the engine is %s', async (engine) => {
    await store('home', 'one');
    expect(await sweepConsolidation(setTo(context(), { engine }), { dryRun: false })).toEqual({ waiting: 1 });
    expect(await countRuns()).toBe(0);
  });

  it('leases nothing while the engine cannot work', async () => {
    await store('home', 'one');
    const broken: ConsolidationEngine = { ...keeper, findObstacle: async () => 'no model is set' };
    expect(await sweep(broken)).toMatchObject({ runs: 0, waiting: 1 });
    expect(await countRuns()).toBe(0);
  });

  it('ends when the engine turns out to be unavailable, with no attempt counted', async () => {
    await store('a', 'one');
    await store('b', 'two');
    const broken = scripted(() => {
      throw new EngineError('the key is wrong', { retryable: true, isUnavailable: true });
    });
    expect(await sweep(broken)).toMatchObject({ runs: 1, failedRuns: 1 });
    expect(await episodes()).toMatchObject([{ version: 1 }, { version: 1 }]);
  });

  it('uses the configured engine', async () => {
    await store('home', 'My name is Ada Lovelace.');
    await sweepConsolidation(context(), { dryRun: false });
    expect(await core.db.forTenant(tenantId).client.consolidationRun.findMany()).toMatchObject([
      { engine: 'patterns', status: 'succeeded' },
    ]);
  });
});

describe('a failure', () => {
  it('is tried again after twice the time, and is a dead letter at the limit, that nobody claims', async () => {
    await store('home', 'one');
    const waits: (number | null)[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      const { runId } = await claimNext(context());
      await failRun(context(), runId, { reason: 'the model is tired', retryable: true });
      const [episode] = await episodes();
      const retryAt = episode?.nextConsolidationRetryAt ?? null;
      waits.push(retryAt === null ? null : (retryAt.getTime() - core.clock.now.getTime()) / 1000);
      if (retryAt === null) break;
      core.clock.now = new Date(retryAt.getTime() - 1);
      expect(await claimEpisodes(context(), { engine: 'agent', worker: 'test' })).toBeNull();
      core.clock.now = retryAt;
    }

    expect(waits).toEqual([60, 120, 240, 480, null]);
    expect(await episodes()).toMatchObject([
      { consolidationStatus: 'dead_letter', consolidationAttempts: 5, lastConsolidationError: 'the model is tired' },
    ]);
    passSeconds(core, 86_400);
    expect(await claimEpisodes(context(), { engine: 'agent', worker: 'test' })).toBeNull();
    const events = await core.db.forTenant(tenantId).client.memoryEvent.findMany({
      where: { entityType: 'episode' },
      orderBy: { sequence: 'asc' },
    });
    expect(events.map(({ eventType }) => eventType)).toEqual([
      'episode.stored',
      ...Array<string>(4).fill('episode.consolidation_failed'),
      'episode.dead_lettered',
    ]);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('that no retry can mend is final', async () => {
    await store('home', 'one');
    const broken = scripted(() => {
      throw new EngineError('the episode is too long', { retryable: false });
    });
    await sweep(broken);
    expect(await episodes()).toMatchObject([
      { consolidationStatus: 'failed', lastConsolidationError: 'the episode is too long', consolidationAttempts: 1 },
    ]);
  });

  it('waits as long as the engine asks to', async () => {
    await store('home', 'one');
    const busy = scripted(() => {
      throw new EngineError('busy', { retryable: true, retryAfterMs: 600_000, usage: { model: 'm', inputTokens: 5 } });
    });
    await sweep(busy);
    const [episode] = await episodes();
    expect(episode?.nextConsolidationRetryAt).toEqual(new Date(core.clock.now.getTime() + 600_000));
    expect(await core.db.forTenant(tenantId).client.consolidationRun.findFirst()).toMatchObject({
      model: 'm',
      inputTokens: 5,
    });
  });

  it('of a kind that nobody expected says nothing of what it was', async () => {
    await store('home', 'one');
    const broken = scripted(() => {
      throw new Error('postgres://user:secret@host/db refused');
    });
    await sweep(broken);
    const reason = 'an unexpected error, which the log of the server describes';
    expect(await core.db.forTenant(tenantId).client.consolidationRun.findFirst()).toMatchObject({
      status: 'failed',
      error: reason,
    });
    expect(await episodes()).toMatchObject([{ lastConsolidationError: reason }]);
  });

  it('of a run that has ended or lost its lease is refused', async () => {
    await store('home', 'one');
    const { runId } = await claimNext(context());
    passSeconds(core, 300);
    await expect(failRun(context(), runId, { reason: 'no', retryable: true })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await episodes()).toMatchObject([{ version: 1 }]);
  });
});

describe('requeueing', () => {
  async function deadLetter(...contents: string[]): Promise<string[]> {
    const stored = await store('home', ...contents);
    const { runId } = await claimNext(context());
    await failRun(setTo(context(), { maxAttempts: 1 }), runId, { reason: 'no', retryable: true });
    expect(await statuses()).toEqual(contents.map(() => 'dead_letter'));
    return stored.map(({ id }) => id);
  }

  it('has an episode tried anew, with no attempt counted', async () => {
    const ids = await deadLetter('one');
    const { episodes: requeued, refused } = await requeueEpisodes(context(), { ids });

    expect(refused).toEqual([]);
    expect(requeued).toMatchObject([
      { consolidationStatus: 'pending', consolidationAttempts: 0, lastConsolidationError: null },
    ]);
    expect((await claimNext(context())).episodes).toHaveLength(1);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('has one winner when two ask for it at once', async () => {
    const ids = await deadLetter('one');
    const outcomes = await Promise.all([1, 2, 3].map(() => requeueEpisodes(context(), { ids })));

    expect(outcomes.flatMap((outcome) => outcome.episodes)).toHaveLength(1);
    expect(outcomes.flatMap((outcome) => outcome.refused)).toEqual(
      [1, 2].map(() => ({ id: ids[0], reason: 'the episode is pending already' })),
    );
    const where = { tenantId, eventType: 'episode.requeued' };
    expect(await core.db.forTenant(tenantId).client.memoryEvent.count({ where })).toBe(1);
  });

  it('finds dead letters and failures by butler and time', async () => {
    const [, second = ''] = await deadLetter('one', 'two');
    const since = (await episodes())[1]?.createdAt ?? null;
    expect((await requeueEpisodes(context(), { butler: 'health' })).episodes).toEqual([]);
    expect((await requeueEpisodes(context(), { butler: 'home', since })).episodes.map(({ id }) => id)).toEqual([
      second,
    ]);
    expect((await requeueEpisodes(context(), { status: 'dead_letter' })).episodes).toHaveLength(1);
  });

  it('is not held up by those that are past their grace, and passes over them without a word', async () => {
    const [past = ''] = await deadLetter('one');
    const { defaultTtlDays, pendingGraceDays } = core.config.memory.episodes;
    core.clock.now = core.day(defaultTtlDays + pendingGraceDays);
    const [fresh] = await store('home', 'two');
    const { runId } = await claimNext(context());
    await failRun(setTo(context(), { maxAttempts: 1 }), runId, { reason: 'no', retryable: true });

    const { episodes: requeued, refused } = await requeueEpisodes(context(), { limit: 1 });
    expect(requeued.map(({ id }) => id)).toEqual([fresh?.id]);
    expect(refused).toEqual([]);
    expect((await episodes()).find(({ id }) => id === past)).toMatchObject({ consolidationStatus: 'dead_letter' });
  });

  it('does again what another engine did', async () => {
    await store('home', 'one');
    await sweepConsolidation(context(), { dryRun: false });
    await store('home', 'two');
    await sweep(keeper);
    expect(await statuses()).toEqual(['consolidated', 'consolidated']);

    const { episodes: requeued } = await requeueEpisodes(context(), { status: 'consolidated', engine: 'patterns' });
    expect(requeued.map(({ content }) => content)).toEqual(['one']);
    await expect(requeueEpisodes(context(), { status: 'consolidated' })).rejects.toThrow(
      'engine must be one of patterns, llm',
    );
  });

  it('refuses what is unknown, pending, or past its grace', async () => {
    const [dead = ''] = await deadLetter('one');
    const [pending] = await store('home', 'two');
    const unknown = '01890000-0000-7000-8000-000000000000';
    const ids = [unknown, pending?.id ?? ''];
    expect((await requeueEpisodes(context(), { ids })).refused).toEqual([
      { id: unknown, reason: 'the episode is not there' },
      { id: pending?.id, reason: 'the episode is pending already' },
    ]);
    const { defaultTtlDays, pendingGraceDays } = core.config.memory.episodes;
    core.clock.now = core.day(defaultTtlDays + pendingGraceDays);
    const { refused } = await requeueEpisodes(context(), { ids: [dead] });
    expect(refused).toMatchObject([{ id: dead, reason: expect.stringContaining('pending_grace_days') as string }]);
    await expect(requeueEpisodes(context(), { ids: [] })).rejects.toThrow(
      'ids must be 1 to 1000 ids of episodes (got 0)',
    );
    await expect(requeueEpisodes(context(), { ids, butler: 'home' })).rejects.toThrow('ids must be given alone');
  });

  it('reaches only the own episodes of a butler', async () => {
    const ids = await deadLetter('one');
    const health = core.context({ tenantId, role: 'butler', butler: 'health' });
    expect(await requeueEpisodes(health, { ids })).toMatchObject({
      episodes: [],
      refused: [{ reason: 'the episode is not there' }],
    });
    await expect(requeueEpisodes(health, { butler: 'home' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('what maintenance says', () => {
  it('is not stored as an episode, by the session of its run', async () => {
    await store('home', 'one');
    const { runId } = await claimNext(context());
    const episode = { butler: 'home', content: 'I consolidated one episode.', sessionId: runId };
    await expect(storeEpisode(context(), episode)).rejects.toThrow(
      'session_id must be a session of a butler, not a consolidation run',
    );
    await expect(ingestEpisodes(context(), [{ ...episode, sessionId: null }, episode])).rejects.toThrow(
      'episodes[1].session_id',
    );
    expect(await episodes()).toHaveLength(1);
  });

  it('is not stored as an episode, by its mark', async () => {
    const episode = { butler: 'home', content: 'Sweep done.', metadata: { maintenance: true } };
    await expect(storeEpisode(context(), episode)).rejects.toThrow('metadata.maintenance must be absent or false');
    await expect(ingestEpisodes(context(), [episode])).rejects.toThrow('episodes[0].metadata.maintenance');
    await storeEpisode(context(), { ...episode, metadata: { maintenance: false } });
    expect(await episodes()).toHaveLength(1);
  });
});
