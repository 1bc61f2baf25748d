import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepCapacity } from '../../src/lifecycle/eviction.ts';
import { readStats } from '../../src/lifecycle/stats.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { findMemory } from '../../src/memory/memories.ts';
import type { Rule } from '../../src/memory/rules/rules.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { execute, newScene, type Scene } from './support.ts';
import { confirmMemory, disableRule, markRule, storeRule, undoEvent } from '../support/writes.ts';

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
const none = { evicted: 0, failed: 0 };

/** The sweep with room for so many of a generation. */
const limited =
  (mid: number, long = mid): typeof sweepCapacity =>
  (_context, options) => {
    const { memory } = core.config;
    const limits = { mid: { ...memory.mid, maxEntries: mid }, long: { ...memory.long, maxEntries: long } };
    const config = { ...core.config, memory: { ...memory, ...limits } };
    return sweepCapacity({ ...context(), config, now: aWeekLater }, options);
  };

/** When the sweep may take what is stored now. */
const aWeekLater = (): Date => new Date(core.clock.now.getTime() + 7 * 86_400_000);

function minuteLater(): void {
  core.clock.now = new Date(core.clock.now.getTime() + 60_000);
}

async function fact(input: Partial<StoreFactInput> = {}): Promise<Fact> {
  minuteLater();
  return scene.fact({ sourceButler: 'alfred', importance: 4, ...input });
}

async function rule(content: string): Promise<Rule> {
  minuteLater();
  return storeRule(context(), { content, sourceButler: 'alfred', importance: 4 });
}

async function touch(id: string): Promise<void> {
  minuteLater();
  await execute(scene, 'UPDATE facts SET last_referenced_at = $2 WHERE id = $1', [id, core.clock.now]);
}

const validities = (...facts: Fact[]): Promise<string[]> =>
  Promise.all(facts.map(({ id }) => scene.validityOf('fact', id)));

describe('facts and rules beyond the capacity of their generation', () => {
  it('expire, the oldest that nobody used first, and can be brought back', async () => {
    const [first, second, third] = [await fact(), await fact(), await fact()];
    await touch(first.id);

    expect(await scene.sweepOnce(limited(3))).toEqual(none);
    expect(await scene.sweepOnce(limited(2))).toEqual({ ...none, evicted: 1 });
    expect(await validities(first, second, third)).toEqual(['active', 'expired', 'active']);
    expect(await scene.eventTypesOf(second.id)).toEqual(['fact.stored', 'fact.evicted']);
    await undoEvent(context(), { eventId: await scene.lastEvent(second.id, 'fact.evicted') });
    expect(await validities(second)).toEqual(['active']);
  });

  it('are counted for each butler and each generation by itself', async () => {
    const own = [
      await fact(),
      await fact(),
      await fact({ permanence: 'stable' }),
      await fact({ permanence: 'stable' }),
    ];
    const others = [await fact({ sourceButler: 'jeeves' }), await fact({ sourceButler: null })];

    expect(await scene.sweepOnce(limited(1, 2))).toEqual({ ...none, evicted: 1 });
    expect(await validities(...own, ...others)).toEqual(['expired', 'active', 'active', 'active', 'active', 'active']);
  });

  it('stay when no butler learned them', async () => {
    const facts = [await fact({ sourceButler: null }), await fact({ sourceButler: null })];

    expect(await scene.sweepOnce(limited(1))).toEqual(none);
    expect(await validities(...facts)).toEqual(['active', 'active']);
  });

  it('share the room of a generation between both types', async () => {
    const oldest = await rule('one');
    const middle = await fact();
    const newest = await rule('two');

    expect(await scene.sweepOnce(limited(1))).toEqual({ ...none, evicted: 2 });
    expect(await scene.validityOf('rule', oldest.id)).toBe('expired');
    expect(await validities(middle)).toEqual(['expired']);
    expect(await scene.validityOf('rule', newest.id)).toBe('active');
    expect((await scene.eventTypesOf(oldest.id)).at(-1)).toBe('rule.evicted');
  });

  it('stay when they were referenced, confirmed or shown, or matter', async () => {
    const [referenced, confirmed, shown, important] = [
      await fact(),
      await fact(),
      await fact(),
      await fact({ importance: 5 }),
    ];
    const unused = await fact();
    await touch(referenced.id);
    await confirmMemory(context(), { type: 'fact', id: confirmed.id });
    await execute(scene, 'UPDATE facts SET last_shown_at = $2 WHERE id = $1', [shown.id, core.clock.now]);

    expect(await scene.sweepOnce(limited(1))).toEqual({ ...none, evicted: 1 });
    expect(await validities(referenced, confirmed, shown, important)).toEqual(Array(4).fill('active'));
    expect(await validities(unused)).toEqual(['expired']);
  });

  it('spare permanent facts', async () => {
    const permanent = [await fact({ permanence: 'permanent' }), await fact({ permanence: 'permanent' })];
    const stable = [await fact({ permanence: 'stable' }), await fact({ permanence: 'stable' })];

    expect(await scene.sweepOnce(limited(9, 1))).toEqual({ ...none, evicted: 2 });
    expect(await validities(...permanent, ...stable)).toEqual(['active', 'active', 'expired', 'expired']);
  });

  it('are told by the statistics a week before, and not taken before that', async () => {
    const facts = [await fact(), await fact(), await fact({ sourceButler: 'jeeves' })];
    const { memory } = core.config;
    const config = { ...core.config, memory: { ...memory, mid: { ...memory.mid, maxEntries: 1 } } };
    const early = (): Date => new Date(aWeekLater().getTime() - 120_000);

    expect((await readStats({ ...context(), config }, {})).dueEvictions).toEqual([
      { butler: 'alfred', generation: 'mid', count: 1 },
    ]);
    expect((await readStats({ ...context(), config }, { scope: 'jeeves' })).dueEvictions).toBeNull();
    expect(await sweepCapacity({ ...context(), config, now: early }, { dryRun: false })).toEqual(none);
    expect(await scene.sweepOnce(limited(1))).toEqual({ ...none, evicted: 1 });
    expect(await validities(...facts)).toEqual(['expired', 'active', 'active']);
  });

  it('spare warnings and what a person disabled', async () => {
    const warning = await rule('one');
    for (let harm = 0; harm < 3; harm++) await markRule(context(), { ruleId: warning.id, outcome: 'harmful' });
    const disabled = await rule('two');
    await disableRule(context(), { ruleId: disabled.id });
    const [first, second] = [await fact(), await fact()];

    // The warning takes a place, the disabled rule none.
    expect(await scene.sweepOnce(limited(2))).toEqual({ ...none, evicted: 1 });
    expect(await validities(first, second)).toEqual(['expired', 'active']);
    expect(await scene.validityOf('rule', warning.id)).toBe('active');
    expect(await scene.validityOf('rule', disabled.id)).toBe('active');
  });

  it('that somebody asked for since the sweep began stay', async () => {
    const [first] = [await fact(), await fact()];
    let isDone = false;
    const transaction: MemoryContext['db']['transaction'] = async (work) => {
      if (!isDone) await touch(first.id);
      isDone = true;
      return context().db.transaction(work);
    };
    const { memory } = core.config;
    const config = { ...core.config, memory: { ...memory, mid: { ...memory.mid, maxEntries: 1 } } };
    const changed = { ...context(), config, now: aWeekLater, db: { ...context().db, transaction } };

    expect(await sweepCapacity(changed, { dryRun: false })).toEqual(none);
  });
});

describe('a chain of supersession', () => {
  it('stays whole whatever the sweeps do: nothing of it is deleted', async () => {
    const chain = [];
    for (const content of ['tea', 'coffee', 'milk']) chain.push(await fact({ predicate: 'drinks', content }));
    await fact();
    await scene.sweepOnce(limited(1));

    expect(await validities(...chain)).toEqual(['superseded', 'superseded', 'expired']);
    for (const { id } of chain) expect(await findMemory(context(), { type: 'fact', id })).not.toBeNull();
    expect(chain.map(({ supersedesId }) => supersedesId)).toEqual([null, chain[0]?.id, chain[1]?.id]);
  });
});
