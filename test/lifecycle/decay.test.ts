import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepDecay } from '../../src/lifecycle/decay.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { testEngine } from '../support/database.ts';
import { execute, newScene, type Scene } from './support.ts';
import {
  confirmMemory,
  disableRule,
  forgetMemory,
  markRule,
  storeFact,
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

const context = (): MemoryContext => scene.context();
const none = { fading: 0, expired: 0, recovered: 0, inverted: 0, failed: 0 };
const run = (): Promise<Record<string, number>> => sweepDecay(context(), { dryRun: false });
/** Days until the confidence of 1 is down to this. */
const daysTo = (confidence: number, rate: number): number => Math.log(1 / confidence) / rate;

describe('the decay sweep', () => {
  it('changes nothing at the very thresholds, and acts just below them', async () => {
    const atRetrieval = await scene.fact({ confidence: 0.2 });
    const belowRetrieval = await scene.fact({ confidence: 0.199_999_999 });
    const atExpiry = await scene.fact({ confidence: 0.05 });
    const belowExpiry = await scene.fact({ confidence: 0.049_999_999 });

    expect(await scene.sweepOnce(sweepDecay)).toEqual({ ...none, fading: 2, expired: 1 });
    const validities = [atRetrieval, belowRetrieval, atExpiry, belowExpiry].map(({ id }) =>
      scene.validityOf('fact', id),
    );
    expect(await Promise.all(validities)).toEqual(['active', 'fading', 'fading', 'expired']);
  });

  it('makes facts and rules fade and expire when their confidence has gone, with an event each', async () => {
    const fact = await scene.fact({ permanence: 'ephemeral' });
    const rule = await storeRule(context(), { content: 'ask first' });
    core.clock.now = core.day(daysTo(0.2, 0.1) - 0.001);
    expect(await scene.sweepOnce(sweepDecay)).toEqual(none);
    core.clock.now = core.day(daysTo(0.2, 0.1) + 0.001);
    expect(await scene.sweepOnce(sweepDecay)).toEqual({ ...none, fading: 1 });
    core.clock.now = core.day(daysTo(0.05, 0.1) + 0.001);
    expect(await scene.sweepOnce(sweepDecay)).toEqual({ ...none, expired: 1 });
    core.clock.now = core.day(daysTo(0.4, 0.008) + 0.001);
    expect(await scene.sweepOnce(sweepDecay)).toEqual({ ...none, fading: 1 });

    expect(await scene.eventTypesOf(fact.id)).toEqual(['fact.stored', 'fact.fading', 'fact.expired']);
    expect(await scene.eventTypesOf(rule.id)).toEqual(['rule.stored', 'rule.fading']);
  });

  it('says in its event who did it, on which request, and the row before and after', async () => {
    const fact = await scene.fact({ confidence: 0.1 });
    const asJob = { ...context(), actor: 'job:decay-sweep' };
    await sweepDecay(asJob, { dryRun: false });
    const id = await scene.lastEvent(fact.id, 'fact.fading');
    const event = await scene.client.memoryEvent.findFirstOrThrow({ where: { id } });

    expect(event).toMatchObject({
      eventType: 'fact.fading',
      actor: 'job:decay-sweep',
      requestId: asJob.requestContext.requestId,
      occurredAt: core.clock.now,
      causeEventId: null,
      payload: { before: { validity: 'active', version: 1 }, after: { validity: 'fading', version: 2 } },
    });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(core.clock.now.getTime());
  });

  it('leaves alone what does not decay, was disabled, or is not live', async () => {
    const permanent = await scene.fact({ permanence: 'permanent', confidence: 0.01 });
    const superseded = await scene.fact({ predicate: 'food', confidence: 0.01 });
    await scene.fact({ predicate: 'food', content: 'soba', permanence: 'permanent' });
    const retracted = await scene.fact({ confidence: 0.01 });
    await forgetMemory(context(), { type: 'fact', id: retracted.id });
    const disabled = await storeRule(context(), { content: 'one' });
    await disableRule(context(), { ruleId: disabled.id });
    const warning = await storeRule(context(), { content: 'two' });
    for (let harm = 0; harm < 3; harm++) await markRule(context(), { ruleId: warning.id, outcome: 'harmful' });
    core.clock.now = core.day(3650);

    expect(await scene.sweepOnce(sweepDecay)).toEqual(none);
    expect(await scene.validityOf('fact', permanent.id)).toBe('active');
    expect(await scene.validityOf('fact', superseded.id)).toBe('superseded');
    expect(await scene.validityOf('rule', warning.id)).toBe('active');
  });

  it('brings back what fades when the thresholds were lowered, and nothing that expired', async () => {
    const fading = await scene.fact({ confidence: 0.1 });
    const expired = await scene.fact({ confidence: 0.01 });
    await run();
    const facts = { ...core.config.memory.facts, retrievalConfidenceThreshold: 0.02, expiryConfidenceThreshold: 0.001 };
    const lenient = { ...context(), config: { ...core.config, memory: { ...core.config.memory, facts } } };

    expect(await sweepDecay(lenient, { dryRun: false })).toEqual({ ...none, recovered: 1 });
    expect(await scene.eventTypesOf(fading.id)).toEqual(['fact.stored', 'fact.fading', 'fact.recovered']);
    expect(await scene.validityOf('fact', expired.id)).toBe('expired');
    expect(await findDifferences(context())).toEqual([]);
  });

  it('counts a confirmation that made a fading fact active at once, and does not fade it again', async () => {
    const fact = await scene.fact({ permanence: 'volatile' });
    core.clock.now = core.day(60);
    await run();
    await confirmMemory(context(), { type: 'fact', id: fact.id });

    expect(await scene.validityOf('fact', fact.id)).toBe('active');
    expect(await scene.sweepOnce(sweepDecay)).toEqual(none);
  });

  it('can be undone, event by event', async () => {
    const fact = await scene.fact({ permanence: 'ephemeral' });
    core.clock.now = core.day(20);
    await run();
    core.clock.now = core.day(40);
    await run();
    await undoEvent(context(), { eventId: await scene.lastEvent(fact.id, 'fact.expired') });
    expect(await scene.validityOf('fact', fact.id)).toBe('fading');
    await undoEvent(context(), { eventId: await scene.lastEvent(fact.id, 'fact.fading') });
    expect(await scene.validityOf('fact', fact.id)).toBe('active');
    expect(await findDifferences(context())).toEqual([]);
  });

  it('refuses to bring an expired fact back beside the one that took its key', async () => {
    const old = await scene.fact({ predicate: 'food', confidence: 0.01 });
    await run();
    const successor = await scene.fact({ predicate: 'food', content: 'soba' });

    await expect(
      undoEvent(context(), { eventId: await scene.lastEvent(old.id, 'fact.expired') }),
    ).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(successor.id) as string });
  });

  it('touches no other tenant', async () => {
    const other = await storeFact(core.context({ tenantId: 'other' }), {
      subject: 'user',
      predicate: 'food',
      content: 'tea',
      confidence: 0.01,
    });

    expect(await run()).toEqual(none);
    const where = { tenantId_id: { tenantId: 'other', id: other.id } };
    expect(await core.db.forTenant('other').client.fact.findUnique({ where })).toMatchObject({ validity: 'active' });
  });
});

describe('a rule whose harm is too much for the thresholds of today', () => {
  const lenient = { minHarmful: 3, maxEffectiveness: 0 };

  async function harmedRule(): Promise<string> {
    const { memory } = core.config;
    const rules = { ...memory.rules, harmfulToAntipattern: lenient };
    const before = { ...context(), config: { ...core.config, memory: { ...memory, rules } } };
    const { id } = await storeRule(before, { content: 'stir the tea twice' });
    for (const reason of ['it got cold', 'it was spilt', 'nobody drank it']) {
      await markRule(before, { ruleId: id, outcome: 'harmful', reason });
    }
    return id;
  }

  it('is inverted into a warning, even if it would have expired', async () => {
    const id = await harmedRule();
    core.clock.now = core.day(3650);

    expect(await scene.sweepOnce(sweepDecay)).toEqual({ ...none, inverted: 1 });
    const rule = await scene.client.rule.findFirstOrThrow({ where: { id } });
    expect(rule).toMatchObject({ maturity: 'anti_pattern', validity: 'active', originalContent: 'stir the tea twice' });
    expect(rule.content).toContain('it got cold; it was spilt; nobody drank it');
  });

  it('is not inverted again after a person undid it', async () => {
    const id = await harmedRule();
    await run();
    await undoEvent(context(), { eventId: await scene.lastEvent(id, 'rule.inverted') });

    expect(await scene.sweepOnce(sweepDecay)).toEqual(none);
    expect((await markRule(context(), { ruleId: id, outcome: 'harmful' })).maturity).toBe('anti_pattern');
  });
});

describe('one bad row', () => {
  it('that cannot be changed does not stop the sweep, and is counted', async () => {
    const facts = [];
    for (let number = 0; number < 9; number++) facts.push(await scene.fact({ confidence: 0.1 }));
    const bad = facts[4]?.id ?? '';
    await execute(scene, `UPDATE facts SET version = 2147483647 WHERE id = $1`, [bad]);

    expect(await run()).toEqual({ ...none, fading: 8, failed: 1 });
    expect(await scene.validityOf('fact', bad)).toBe('active');
    expect(await run()).toEqual({ ...none, failed: 1 });
  });

  it('that cannot even be looked at does not stop it either', async () => {
    const facts = [];
    for (let number = 0; number < 9; number++) facts.push(await scene.fact({ confidence: 0.1 }));
    const bad = facts[4]?.id ?? '';
    // Later versions of PostgreSQL can subtract it, and find the confidence gone.
    await execute(scene, `UPDATE facts SET last_confirmed_at = '-infinity' WHERE id = $1`, [bad]);
    const report = await run();

    expect(report['fading']).toBe(8);
    expect((report['failed'] ?? 0) + (report['expired'] ?? 0)).toBe(1);
  });
});

describe('a change that is committed between the look and the change', () => {
  /** The context of a sweep before whose first change something else happens. */
  function interrupted(meanwhile: () => Promise<unknown>): MemoryContext {
    let isDone = false;
    const transaction: MemoryContext['db']['transaction'] = async (work) => {
      if (!isDone) {
        isDone = true;
        await meanwhile();
      }
      return context().db.transaction(work);
    };
    return { ...context(), db: { ...context().db, transaction } };
  }

  it.each([
    ['a confirmation', 'active', (id: string) => confirmMemory(context(), { type: 'fact', id })],
    ['a retraction', 'retracted', (id: string) => forgetMemory(context(), { type: 'fact', id })],
    ['a supersession', 'superseded', () => scene.fact({ predicate: 'food', content: 'soba' })],
  ] as const)('wins: %s', async (_what, validity, meanwhile) => {
    const fact = await scene.fact({ predicate: 'food', permanence: 'ephemeral' });
    core.clock.now = core.day(20);

    expect(
      await sweepDecay(
        interrupted(() => meanwhile(fact.id)),
        { dryRun: false },
      ),
    ).toEqual(none);
    expect(await scene.validityOf('fact', fact.id)).toBe(validity);
    expect(await findDifferences(context())).toEqual([]);
  });
});

describe.skipIf(testEngine === 'pglite')('a row that somebody else holds', () => {
  /** Until some statement waits for a lock. */
  async function untilSomeoneWaits(): Promise<void> {
    for (let attempt = 0; attempt < 10_000; attempt++) {
      // Others use the same server.
      const { rowCount } = await core.db.asOwner((client) =>
        client.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
      );
      if (rowCount !== 0) return;
    }
    expect.unreachable('nobody waits for a lock');
  }

  it('is waited for after all others are done, and is then seen as it was left', async () => {
    const held = await scene.fact({ confidence: 0.1 });
    const free = await scene.fact({ confidence: 0.1 });
    const { tenantId } = scene;
    let sweeping: ReturnType<typeof run> | undefined;
    await core.db.forTenant(tenantId).transaction(async (transaction) => {
      const where = { tenantId_id: { tenantId, id: held.id } };
      await transaction.fact.update({ where, data: { validity: 'retracted' } });
      sweeping = run();
      await untilSomeoneWaits();
      expect(await scene.validityOf('fact', free.id)).toBe('fading');
    });

    expect(await sweeping).toEqual({ ...none, fading: 1 });
    expect(await scene.validityOf('fact', held.id)).toBe('retracted');
    expect(await scene.eventTypesOf(held.id)).toEqual(['fact.stored']);
  });

  it('and that was only referenced is swept', async () => {
    const fact = await scene.fact({ confidence: 0.1 });
    await scene.fact({ confidence: 0.1 });
    let sweeping: ReturnType<typeof run> | undefined;
    await core.db.forTenant(scene.tenantId).transaction(async (transaction) => {
      await transaction.$executeRaw`UPDATE facts SET reference_count = 5 WHERE id = ${fact.id}::uuid`;
      sweeping = run();
      await untilSomeoneWaits();
    });

    expect(await sweeping).toEqual({ ...none, fading: 2 });
    expect(await scene.client.fact.findFirst({ where: { id: fact.id } })).toMatchObject({
      validity: 'fading',
      referenceCount: 5,
    });
  });

  it('holds up nobody: two sweeps and confirmations at once write one event for each step', async () => {
    const facts = await Promise.all(Array.from({ length: 30 }, () => scene.fact({ permanence: 'ephemeral' })));
    core.clock.now = core.day(20);
    const confirmed = facts.slice(0, 10);
    await Promise.all([
      run(),
      run(),
      ...confirmed.map(({ id }) => confirmMemory(context(), { type: 'fact', id })),
      run(),
    ]);

    for (const { id } of facts.slice(10)) expect(await scene.eventTypesOf(id)).toEqual(['fact.stored', 'fact.fading']);
    for (const { id } of confirmed) expect(await scene.validityOf('fact', id)).toBe('active');
    expect(await findDifferences(context())).toEqual([]);
  });
});

describe('a sweep that is told to stop', () => {
  it('changes nothing more, and the next one goes on', async () => {
    await scene.fact({ confidence: 0.1 });

    expect(await sweepDecay(context(), { dryRun: false, signal: AbortSignal.abort() })).toEqual(none);
    expect(await run()).toEqual({ ...none, fading: 1 });
  });

  it('between two batches keeps what the first did, each batch being a transaction of its own', async () => {
    await execute(
      scene,
      `INSERT INTO facts (tenant_id, id, subject, predicate, content, confidence, recorded_at, created_at)
       SELECT $1, memory_new_id($2), 'guest ' || n, 'drinks', 'tea', 0.1, $2, $2 FROM generate_series(1, 600) n`,
      [scene.tenantId, core.start],
    );
    const stop = new AbortController();
    const transaction: MemoryContext['db']['transaction'] = (work) => {
      stop.abort();
      return context().db.transaction(work);
    };
    const stopped = { ...context(), db: { ...context().db, transaction } };
    const first = await sweepDecay(stopped, { dryRun: false, signal: stop.signal });

    expect(first).toEqual({ ...none, fading: 250 });
    expect(await run()).toEqual({ ...none, fading: 350 });
    const batches = await scene.client.memoryEvent.groupBy({ by: ['transactionId'], _count: true });
    expect(batches.length).toBeGreaterThan(1);
  });

  it('has told how far it is', async () => {
    await scene.fact({ confidence: 0.1 });
    const told: [number, number | null][] = [];
    await sweepDecay(context(), { dryRun: false, progress: (done, total) => told.push([done, total]) });

    expect(told.at(-1)).toEqual([1, 1]);
  });
});

describe('200 days, swept every night', () => {
  it('leave each fact in the state that its confidence calls for, with one event for each step', async () => {
    const permanences = ['ephemeral', 'volatile', 'standard', 'stable', 'permanent'] as const;
    const facts = await Promise.all(permanences.map((permanence) => scene.fact({ permanence })));
    const confirmed = await scene.fact({ permanence: 'volatile' });
    const counts = { ...none };
    for (let day = 1; day <= 200; day++) {
      core.clock.now = core.day(day);
      if (day === 60) await confirmMemory(context(), { type: 'fact', id: confirmed.id });
      for (const [name, count] of Object.entries(await run())) counts[name as keyof typeof counts] += count;
    }

    // Ephemeral at 17 and 30 days, volatile at 54 and 100; the confirmed one fades twice.
    expect(counts).toEqual({ ...none, fading: 4, expired: 3 });
    expect(await Promise.all(facts.map(({ id }) => scene.validityOf('fact', id)))).toEqual([
      'expired',
      'expired',
      'active',
      'active',
      'active',
    ]);
    expect(await scene.eventTypesOf(confirmed.id)).toEqual([
      'fact.stored',
      'fact.fading',
      'fact.confirmed',
      'fact.fading',
      'fact.expired',
    ]);
    expect(await scene.client.memoryEvent.count({ where: { entityType: 'fact' } })).toBe(6 + 7 + 1);
    expect(await findDifferences(context())).toEqual([]);
  });
});
