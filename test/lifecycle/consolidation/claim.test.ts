import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claimEpisodes, sizeOfClaim } from '../../../src/lifecycle/consolidation/claim.ts';
import { renewLease, untilAborted, withLease } from '../../../src/lifecycle/consolidation/lease.ts';
import { getRun } from '../../../src/lifecycle/consolidation/run.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimNext, configWith, observe, passSeconds, setTo } from './setup.ts';
import { failRun, forgetMemory, restoreMemory } from '../../support/writes.ts';

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

/** In the tenant of this test. */
async function store(butler: string, ...contents: string[]): Promise<string[]> {
  const own = { ...core, context: context } as TestCore;
  const episodes = await observe(own, butler, ...contents);
  return episodes.map(({ id }) => id);
}

async function statesOf(ids: string[]): Promise<object[]> {
  const rows = await core.db.forTenant(tenantId).client.episode.findMany({ where: { tenantId, id: { in: ids } } });
  return ids.map((id) => rows.find((row) => row.id === id) ?? expect.unreachable(`${id} is gone`));
}

describe('a claim', () => {
  it('takes the episodes of the first butler by name, in the order in which they were stored', async () => {
    const forHome = await store('home', 'one', 'two', 'three');
    const forHealth = await store('health', 'four', 'five');

    const first = await claimNext(context());
    const second = await claimNext(context());

    expect([first.butler, first.episodes.map(({ id }) => id)]).toEqual(['health', forHealth]);
    expect([second.butler, second.episodes.map(({ id }) => id)]).toEqual(['home', forHome]);
    expect(second.episodes[1]).toMatchObject({ content: 'two', sessionId: null, importance: 5, observedAt: null });
    expect(await claimEpisodes(context(), { engine: 'agent', worker: 'test' })).toBeNull();
  });

  it('takes no more than it is asked for, and of the butler it is asked for', async () => {
    await store('home', 'one', 'two', 'three');
    await store('health', 'four');

    const claim = await claimNext(context(), { butler: 'home', limit: 2 });

    expect(claim.episodes.map(({ content }) => content)).toEqual(['one', 'two']);
    await expect(claimNext(context(), { limit: 0 })).rejects.toThrow(
      'limit must be a whole number from 1 to 100 (got 0)',
    );
  });

  it('gives a butler one run at a time, and other butlers theirs', async () => {
    await store('home', 'one', 'two');
    await store('health', 'three');
    await claimNext(context(), { butler: 'home', limit: 1 });

    expect(await claimEpisodes(context(), { engine: 'agent', worker: 'other', butler: 'home' })).toBeNull();
    expect(await claimNext(context())).toMatchObject({ butler: 'health' });
  });

  it('shares no episode with another, however many ask at once', async () => {
    await store('home', 'one', 'two');
    await store('health', 'three', 'four');
    await store('travel', 'five');

    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, place) => claimEpisodes(context(), { engine: 'agent', worker: `worker ${place}` })),
    );

    const taken = claims.flatMap((claim) => claim?.episodes.map(({ content }) => content) ?? []);
    expect(taken.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two']);
  });

  it('is kept by its run, with one event, and changes no episode', async () => {
    const ids = await store('home', 'one', 'two');
    const { runId, leaseExpiresAt } = await claimNext(context());

    expect(await getRun(context(), runId)).toMatchObject({
      butler: 'home',
      engine: 'agent',
      worker: 'test',
      status: 'running',
      episodeIds: ids,
      episodeCount: 2,
      leaseExpiresAt,
      startedAt: core.start,
    });
    expect(leaseExpiresAt.getTime() - core.start.getTime()).toBe(300_000);
    expect(await statesOf(ids)).toMatchObject([{ version: 1 }, { version: 1 }]);
    const events = await core.db
      .forTenant(tenantId)
      .client.memoryEvent.findMany({ where: { tenantId, entityId: runId } });
    expect(events).toMatchObject([{ eventType: 'consolidation_run.claimed', entityType: 'consolidation_run' }]);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('leaves out what was forgotten, until it is restored', async () => {
    const [forgotten = ''] = await store('home', 'one', 'two');
    await forgetMemory(context(), { type: 'episode', id: forgotten });
    const claim = await claimNext(context());
    expect(claim.episodes.map(({ content }) => content)).toEqual(['two']);
    await failRun(context(), claim.runId, { reason: 'no', retryable: true });
    await restoreMemory(context(), { type: 'episode', id: forgotten });

    expect((await claimNext(context())).episodes.map(({ content }) => content)).toEqual(['one']);
  });

  it('takes what expired within the days of grace, and nothing older', async () => {
    const { pendingGraceDays, defaultTtlDays } = core.config.memory.episodes;
    await store('home', 'one');
    core.clock.now = core.day(defaultTtlDays + pendingGraceDays);
    expect(await claimEpisodes(context(), { engine: 'agent', worker: 'test' })).toBeNull();

    core.clock.now = new Date(core.clock.now.getTime() - 1);
    expect((await claimNext(context())).episodes).toHaveLength(1);
  });

  it('of a butler is its own, and that of an operator is of any', async () => {
    await store('health', 'one');
    const [own = ''] = await store('home', 'two');
    const home = core.context({ tenantId, role: 'butler', butler: 'home' });

    await expect(claimNext(home, { butler: 'health' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const claim = await claimNext(home);
    expect(claim.episodes.map(({ id }) => id)).toEqual([own]);
    const health = core.context({ tenantId, role: 'butler', butler: 'health' });
    await expect(getRun(health, claim.runId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(renewLease(health, claim.runId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a lease', () => {
  it('that ended gives the episodes back as a failed attempt, one event each', async () => {
    const ids = await store('home', 'one', 'two');
    const { runId } = await claimNext(context());
    passSeconds(core, 300);
    expect(await claimEpisodes(context(), { engine: 'agent', worker: 'next' })).toBeNull();

    expect(await getRun(context(), runId)).toMatchObject({
      status: 'lost',
      leaseExpiresAt: null,
      error: 'the lease was lost: the worker did not answer in time',
    });
    const failed = {
      consolidationStatus: 'pending',
      consolidationAttempts: 1,
      lastConsolidationError: 'the lease was lost: the worker did not answer in time',
      nextConsolidationRetryAt: new Date(core.clock.now.getTime() + 60_000),
      version: 2,
    };
    expect(await statesOf(ids)).toMatchObject([failed, failed]);
    const events = await core.db
      .forTenant(tenantId)
      .client.memoryEvent.findMany({ where: { tenantId }, orderBy: { sequence: 'asc' } });
    expect(events.slice(-3).map(({ eventType }) => eventType)).toEqual([
      'episode.consolidation_failed',
      'episode.consolidation_failed',
      'consolidation_run.lost',
    ]);
    expect(await findDifferences(context())).toEqual([]);
    passSeconds(core, 60);
    expect((await claimNext(context())).episodes.map(({ id }) => id)).toEqual(ids);
  });

  it('is renewed from now on, and not once it has ended', async () => {
    await store('home', 'one');
    const { runId } = await claimNext(context());
    passSeconds(core, 299);
    expect(await renewLease(context(), runId)).toEqual(new Date(core.clock.now.getTime() + 300_000));
    passSeconds(core, 299);
    expect((await getRun(context(), runId)).status).toBe('running');
    passSeconds(core, 1);
    await expect(renewLease(context(), runId)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is renewed while work goes on, and not after it', async () => {
    await store('home', 'one');
    const short = setTo(context(), { leaseSeconds: 0.03 });
    const claim = await claimNext(short);
    const renewed = await withLease(short, claim, async () => {
      passSeconds(core, 0.01);
      for (;;) {
        const { leaseExpiresAt } = await getRun(short, claim.runId);
        if (leaseExpiresAt !== null && leaseExpiresAt > claim.leaseExpiresAt) return leaseExpiresAt;
      }
    });
    expect(renewed).toEqual(new Date(core.clock.now.getTime() + 30));
  });

  it('is not waited for when it was given up before it began, and its failure is heard', async () => {
    const failing = Promise.reject(new Error('the engine gave up, too'));
    await expect(untilAborted(failing, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });

  it('that is lost aborts the work', async () => {
    await store('home', 'one');
    const short = setTo(context(), { leaseSeconds: 0.03 });
    const claim = await claimNext(short);
    passSeconds(core, 1);

    const work = withLease(short, claim, (signal) => untilAborted(new Promise<never>(() => undefined), signal));
    await expect(work).rejects.toThrow(`consolidation run ${claim.runId} has lost its lease: nothing was written`);
  });
});

describe('the size of a claim', () => {
  it('is halved by every attempt, and one at the last', () => {
    const sizes = [0, 1, 2, 3, 4, 5].map((attempts) => sizeOfClaim(context(), { attempts, limit: 100 }));
    expect(sizes).toEqual([100, 50, 25, 12, 1, 1]);
  });

  it('is whole for the only attempt there is', () => {
    const once = { ...context(), config: configWith({ maxAttempts: 1 }) };
    expect(sizeOfClaim(once, { attempts: 0, limit: 100 })).toBe(100);
  });

  it('counts only those that failed as often as the oldest', async () => {
    await store('home', 'one', 'two', 'three', 'four');
    const { runId } = await claimNext(context(), { limit: 2 });
    await failRun(context(), runId, { reason: 'no', retryable: true });
    passSeconds(core, 60);

    const claim = await claimNext(context(), { limit: 4 });
    expect(claim.episodes.map(({ content }) => content)).toEqual(['one', 'two']);
  });
});
