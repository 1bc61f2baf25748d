import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepDecay } from '../../src/lifecycle/decay.ts';
import { countForecast, forecastFading, type Forecast } from '../../src/lifecycle/forecast.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { newScene, type Scene } from './support.ts';
import { confirmMemory, disableRule, forgetMemory, markRule, storeRule } from '../support/writes.ts';

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
const forecast = (withinDays = 3650, limit = 100): Promise<Forecast[]> =>
  forecastFading(context(), { withinDays, limit });
const idsOf = (found: Forecast[]): string[] => found.map(({ memory }) => memory.id);

describe('the forecast', () => {
  it.each([
    ['an ephemeral fact', () => scene.fact({ permanence: 'ephemeral', confidence: 0.9 })],
    ['a standard fact', () => scene.fact({ permanence: 'standard' })],
    ['a fact that was not sure', () => scene.fact({ permanence: 'volatile', confidence: 0.2 })],
    ['a rule', () => storeRule(context(), { content: 'ask first' })],
  ])('names the very millisecond from which the sweep lets %s fade and expire', async (_what, store) => {
    const { id } = await store();
    const [{ fadesAt, expiresAt } = expect.unreachable('nothing is foreseen')] = await forecast();
    const lastEventAt = async (moment: Date): Promise<string | undefined> => {
      core.clock.now = moment;
      await sweepDecay(context(), { dryRun: false });
      return (await scene.eventTypesOf(id)).at(-1);
    };
    for (const [moment, before, after] of [
      [fadesAt, '.stored', '.fading'],
      [expiresAt ?? expect.unreachable('it never expires'), '.fading', '.expired'],
    ] as const) {
      expect(await lastEventAt(new Date(moment.getTime() - 1))).toContain(before);
      expect(await lastEventAt(moment)).toContain(after);
    }
  });

  it('has the first to fade first, those that fade already before all others, and none beyond its days', async () => {
    const later = await scene.fact({ permanence: 'volatile' });
    const soon = await scene.fact({ permanence: 'ephemeral' });
    const already = await scene.fact({ confidence: 0.1 });
    const rule = await storeRule(context(), { content: 'ask first' });
    await scene.fact({ permanence: 'stable' });
    await scene.fact({ permanence: 'permanent', confidence: 0.1 });

    expect(idsOf(await forecast(120))).toEqual([already.id, soon.id, later.id, rule.id]);
    expect(idsOf(await forecast(20))).toEqual([already.id, soon.id]);
    expect(idsOf(await forecast(0))).toEqual([already.id]);
    expect(await countForecast(context(), 120)).toBe(4);
    expect((await forecast(0))[0]?.fadesAt).toEqual(core.start);
  });

  it('leaves out what the sweep leaves alone', async () => {
    const forgotten = await scene.fact();
    await forgetMemory(context(), { type: 'fact', id: forgotten.id });
    const disabled = await storeRule(context(), { content: 'one' });
    await disableRule(context(), { ruleId: disabled.id });
    const warning = await storeRule(context(), { content: 'two' });
    for (let harm = 0; harm < 3; harm++) await markRule(context(), { ruleId: warning.id, outcome: 'harmful' });

    expect(await forecast()).toEqual([]);
  });

  it('starts anew with a confirmation', async () => {
    const fact = await scene.fact({ permanence: 'ephemeral' });
    const [before] = await forecast();
    core.clock.now = core.day(10);
    await confirmMemory(context(), { type: 'fact', id: fact.id });
    const [after] = await forecast();

    expect((after?.fadesAt.getTime() ?? 0) - (before?.fadesAt.getTime() ?? 0)).toBe(10 * 86_400_000);
  });

  it('is read page by page, in both directions, each memory once', async () => {
    const facts = [];
    for (const confidence of [0.9, 0.5, 0.7, 0.3, 0.5]) facts.push(await scene.fact({ confidence }));
    const all = await forecast();
    const forward: Forecast[] = [];
    for (let after: string | null = null; forward.length < 5; after = forward.at(-1)?.cursor ?? null) {
      forward.push(...(await forecastFading(context(), { withinDays: 3650, limit: 2, after })));
    }

    expect(idsOf(forward)).toEqual(idsOf(all));
    expect(new Set(idsOf(all))).toEqual(new Set(facts.map(({ id }) => id)));
    const before = all.at(-1)?.cursor ?? null;
    const back = await forecastFading(context(), { withinDays: 3650, limit: 2, before, inverted: true });
    expect(idsOf(back)).toEqual(idsOf(all.slice(2, 4)).toReversed());
  });

  it('shows a butler what is global and its own, and nobody another tenant', async () => {
    const shared = await scene.fact();
    const own = await scene.fact({ scope: 'alfred' });
    await scene.fact({ scope: 'jeeves' });
    const asButler = scene.context({ role: 'butler', butler: 'alfred' });

    expect(new Set(idsOf(await forecastFading(asButler, { withinDays: 3650, limit: 10 })))).toEqual(
      new Set([shared.id, own.id]),
    );
    expect(await forecastFading(core.context({ tenantId: 'nobody' }), { withinDays: 3650, limit: 10 })).toEqual([]);
  });

  it('has no date of expiry where the thresholds know none', async () => {
    await scene.fact();
    const { memory } = core.config;
    const facts = { ...memory.facts, expiryConfidenceThreshold: 0 };
    const config = { ...core.config, memory: { ...memory, facts } };

    expect(await forecastFading({ ...context(), config }, { withinDays: 3650, limit: 1 })).toMatchObject([
      { expiresAt: null },
    ]);
  });

  it.each([
    [{ withinDays: -1 }, 'within_days must be a number from 0 to 36500 (got -1)'],
    [{ withinDays: 36_501 }, 'within_days must be a number from 0 to 36500 (got 36501)'],
    [{ after: 'nonsense' }, 'after must be a cursor of fading (got "nonsense")'],
  ])('refuses %j', async (given, message) => {
    await expect(forecastFading(context(), { withinDays: 1, limit: 1, ...given })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message,
    });
  });
});
