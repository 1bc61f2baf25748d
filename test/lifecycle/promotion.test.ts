import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepPromotions } from '../../src/lifecycle/promotion.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { Episode } from '../../src/memory/episodes/episodes.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import { countReferences } from '../support/references.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { execute, newScene, type Scene } from './support.ts';
import { forgetMemory, storeEpisode, undoEvent } from '../support/writes.ts';

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
const none = { promoted: 0, extended: 0, failed: 0 };
const run = (): Promise<Record<string, number>> => sweepPromotions(context(), { dryRun: false });

interface Read {
  session?: string | null;
  butler?: string;
}

/** So many references now, some of them by these reads. */
async function refer({ id }: { id: string }, count: number, reads: Read[] = twoSessions()): Promise<void> {
  for (const { session = null, butler = 'alfred' } of reads) {
    const reader = { ...context(), principal: { ...context().principal, butler } };
    await countReferences(reader, [{ type: 'fact', id }], session);
  }
  for (const [table, read] of [
    ['facts', reads.length],
    ['episodes', 0],
  ] as const) {
    await execute(scene, `UPDATE ${table} SET reference_count = reference_count + $2 WHERE id = $1`, [
      id,
      count - read,
    ]);
  }
}

const twoSessions = (): Read[] => [{ session: randomUUID() }, { session: randomUUID() }];

async function permanenceOf({ id }: Fact): Promise<{ permanence: string; decayRate: number }> {
  const { permanence, decayRate } = await scene.client.fact.findFirstOrThrow({ where: { id } });
  return { permanence, decayRate };
}

describe('a fact of the mid generation', () => {
  it('moves up one class, and its decay rate with it, when it was referenced often enough and is old enough', async () => {
    const fact = await scene.fact({ permanence: 'standard' });
    await refer(fact, 10);
    core.clock.now = new Date(core.day(7).getTime() - 1);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
    core.clock.now = core.day(7);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual({ ...none, promoted: 1 });
    expect(await permanenceOf(fact)).toEqual({ permanence: 'stable', decayRate: 0.002 });
    expect(await scene.eventTypesOf(fact.id)).toEqual(['fact.stored', 'fact.promoted']);
  });

  it('with one reference too few stays', async () => {
    const fact = await scene.fact({ permanence: 'standard' });
    await refer(fact, 9);
    core.clock.now = core.day(30);

    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
  });

  it('climbs to stable step by step, each with references and days of its own, and never to permanent', async () => {
    const fact = await scene.fact({ permanence: 'ephemeral' });
    const classes: string[] = [];
    for (let day = 1; day <= 40; day++) {
      core.clock.now = core.day(day);
      await refer(fact, 2);
      const { promoted } = await run();
      if (promoted === 1) classes.push(`${day}: ${(await permanenceOf(fact)).permanence}`);
    }

    expect(classes).toEqual(['7: volatile', '14: standard', '21: stable']);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('needs new references for the next step, however many it had for the last', async () => {
    const fact = await scene.fact({ permanence: 'volatile' });
    await refer(fact, 1000);
    core.clock.now = core.day(7);
    await run();
    core.clock.now = core.day(100);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
    await refer(fact, 10);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual({ ...none, promoted: 1 });
  });

  it.each<[string, Read[], number]>([
    ['one session, however often', [{ session: 'a' }, { session: 'a' }, { session: 'a' }], 0],
    ['two sessions', [{ session: 'a' }, { session: 'b' }], 1],
    ['one butler without sessions on one day', [{}, {}], 0],
    ['two butlers without sessions on one day', [{}, { butler: 'jeeves' }], 1],
    ['one session that two butlers share', [{ session: 'a' }, { session: 'a', butler: 'jeeves' }], 0],
  ])('in %s', async (_what, given, promoted) => {
    const sessions: Record<string, string> = { a: randomUUID(), b: randomUUID() };
    const reads = given.map(({ session, ...rest }) => ({ ...rest, session: sessions[session ?? ''] ?? null }));
    const fact = await scene.fact();
    await refer(fact, 10, reads);
    core.clock.now = core.day(7);

    expect(await scene.sweepOnce(sweepPromotions)).toEqual({ ...none, promoted });
  });

  it('needs new sessions for the next step', async () => {
    const fact = await scene.fact({ permanence: 'volatile' });
    await refer(fact, 10);
    core.clock.now = core.day(7);
    await run();
    await refer(fact, 10, [{ session: randomUUID() }]);
    core.clock.now = core.day(14);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
    await refer(fact, 1, [{ session: randomUUID() }]);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual({ ...none, promoted: 1 });
    expect(await findDifferences(context())).toEqual([]);
  });

  it('counts a butler without sessions once for each day', async () => {
    const fact = await scene.fact();
    await refer(fact, 5, [{}]);
    core.clock.now = core.day(1);
    await refer(fact, 5, [{}]);
    core.clock.now = core.day(7);

    expect(await scene.sweepOnce(sweepPromotions)).toEqual({ ...none, promoted: 1 });
  });

  it('needs no session where none is asked for', async () => {
    const fact = await scene.fact();
    await refer(fact, 10, []);
    core.clock.now = core.day(7);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
    const { memory } = core.config;
    const mid = { ...memory.mid, promoteAfterSessions: 0 };
    const config = { ...core.config, memory: { ...memory, mid } };

    expect(await sweepPromotions({ ...context(), config }, { dryRun: false })).toEqual({ ...none, promoted: 1 });
  });

  it('goes back by undo, and is not promoted again for the same references', async () => {
    const fact = await scene.fact();
    await refer(fact, 10);
    core.clock.now = core.day(7);
    await run();
    await undoEvent(context(), { eventId: await scene.lastEvent(fact.id, 'fact.promoted') });

    expect(await permanenceOf(fact)).toEqual({ permanence: 'standard', decayRate: 0.008 });
    core.clock.now = core.day(30);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
  });

  it('is left alone when it is not live, and so are those of the long generation', async () => {
    const retracted = await scene.fact();
    const stable = await scene.fact({ permanence: 'stable' });
    const permanent = await scene.fact({ permanence: 'permanent' });
    for (const fact of [retracted, stable, permanent]) await refer(fact, 100);
    await forgetMemory(context(), { type: 'fact', id: retracted.id });
    core.clock.now = core.day(30);

    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
  });
});

describe('an episode', () => {
  const store = (): Promise<Episode> => storeEpisode(context(), { content: 'had lunch', butler: 'alfred' });
  const expiryOf = async ({ id }: Episode): Promise<Date> =>
    (await scene.client.episode.findFirstOrThrow({ where: { id } })).expiresAt;

  it('that was referenced often enough is kept for one more span of life, once', async () => {
    const episode = await store();
    await refer(episode, 3, []);
    core.clock.now = new Date(core.day(0.25).getTime() - 1);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
    core.clock.now = core.day(0.25);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual({ ...none, extended: 1 });
    expect(await expiryOf(episode)).toEqual(core.day(14));
    await refer(episode, 100, []);
    core.clock.now = core.day(10);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
  });

  it('is not extended with too few references, after its time, or when it was forgotten', async () => {
    const few = await store();
    await refer(few, 2, []);
    const forgotten = await store();
    await refer(forgotten, 9, []);
    await forgetMemory(context(), { type: 'episode', id: forgotten.id });
    core.clock.now = core.day(1);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
    const late = await store();
    await refer(late, 9, []);
    core.clock.now = core.day(8);
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
  });

  it('expires as it would have when its extension is undone, which is not repeated', async () => {
    const episode = await store();
    await refer(episode, 3, []);
    core.clock.now = core.day(1);
    await run();
    await undoEvent(context(), { eventId: await scene.lastEvent(episode.id, 'episode.extended') });

    expect(await expiryOf(episode)).toEqual(core.day(7));
    expect(await scene.sweepOnce(sweepPromotions)).toEqual(none);
  });
});

it('tells how far it is among the live facts, which it looks at one and all', async () => {
  await scene.fact({});
  await scene.fact({});
  const told: [number, number | null][] = [];
  await sweepPromotions(context(), { dryRun: false, progress: (done, total) => told.push([done, total]) });
  expect(told).toEqual([
    [2, 2],
    [2, 2],
  ]);
});
