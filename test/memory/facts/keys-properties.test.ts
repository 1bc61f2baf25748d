import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { storeFact } from '../../../src/memory/facts/facts.ts';
import { listMemories } from '../../../src/memory/lists.ts';
import { startTicking } from '../../support/clock.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { drill } from '../../support/drill.ts';
import { expectNoDifference } from '../../support/verify.ts';
import { undoEvent } from '../../support/writes.ts';

const numRuns = Number(process.env['BUTLER_PROPERTY_RUNS'] ?? drill({ sample: 8, all: 60 }));
const seed = Number(process.env['BUTLER_PROPERTY_SEED'] ?? 1);

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
  startTicking(core.clock);
});
afterAll(() => core.close());

const newContext = (): MemoryContext => core.context({ tenantId: randomUUID() });

async function listContents(context: MemoryContext, filter: object = {}): Promise<string[]> {
  const listed = await listMemories(context, { type: 'fact', filter }, { limit: 100, inverted: false });
  return listed.map(({ row }) => row.content as unknown as string).toSorted();
}

/** Names of two things that hold one value each, and of one that holds several. */
const names = [
  ['lives_in', 'home_city', 'Lives in'],
  ['employer', 'works_at', 'current employer'],
  ['likes', 'Likes'],
] as const;
const several = 2;

type Step =
  | { do: 'store'; thing: number; name: number; content: number }
  | { do: 'correct'; content: number; by: number }
  | { do: 'undo' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('store' as const), thing: fc.nat(2), name: fc.nat(2), content: fc.nat(3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('correct' as const), content: fc.nat(3), by: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'undo' as const }) },
);

/** What is current: the values of each thing, with the ids of their facts. */
type World = readonly ReadonlyMap<string, string>[];

interface Write {
  before: World;
  eventId: string;
}

/** One value replaces the other of its thing, or takes its place among several. */
function withValue(world: World, thing: number, content: string, id: string, corrected?: string): World {
  const kept = thing === several ? [...(world[thing] ?? [])].filter(([value]) => value !== corrected) : [];
  return world.map((values, place) => (place === thing ? new Map([...kept, [content, id]]) : values));
}

it('has one current value under all names of a thing, each value of several, and undo brings back the world before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const context = newContext();
      const writes: Write[] = [];
      let world: World = names.map(() => new Map<string, string>());
      const store = async (thing: number, name: number, content: string, corrected?: string): Promise<void> => {
        const predicate = names[thing]?.[name % names[thing].length] ?? '';
        const supersedes = corrected === undefined ? undefined : world[thing]?.get(corrected);
        const { value, eventId } = await storeFact(context, { subject: 'user', predicate, content, supersedes });
        writes.push({ before: world, eventId: eventId ?? '' });
        world = withValue(world, thing, content, value.id, corrected);
      };
      for (const one of steps) {
        if (one.do === 'store') await store(one.thing, one.name, `value ${one.thing}${one.content}`);
        else if (one.do === 'correct') {
          const corrected = `value ${several}${one.content}`;
          if (world[several]?.has(corrected) === true) {
            await store(several, 0, `value ${several}${one.by}`, corrected);
          }
        } else {
          const last = writes.pop();
          if (last === undefined) continue;
          await undoEvent(context, { eventId: last.eventId });
          world = last.before;
        }
        expect(await listContents(context)).toEqual(world.flatMap((values) => [...values.keys()]).toSorted());
      }
    }),
    { numRuns, seed },
  );
  await expectNoDifference(core);
});

/** A fact of the future or a temporary replacement, in days from the start of the test. */
const period = fc.constantFrom(
  { from: null, to: null },
  { from: 10, to: null },
  { from: 20, to: null },
  { from: null, to: 15 },
  { from: 12, to: 25 },
);
const dayOf = (day: number | null): Date | null => (day === null ? null : core.day(day));

it('tells of a date to come what will be current then', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(period, { minLength: 1, maxLength: 4 }), async (periods) => {
      const context = newContext();
      for (const [place, { from, to }] of periods.entries()) {
        const given = { subject: 'user', predicate: 'lives_in', content: `place ${place}` };
        await storeFact(context, { ...given, validFrom: dayOf(from), validTo: dayOf(to) });
      }
      for (const day of [5, 11, 13, 18, 22, 30]) {
        const then = { ...context, now: () => core.day(day) };
        expect(await listContents(context, { validAt: core.day(day) })).toEqual(await listContents(then));
        expect(await listContents(then)).toHaveLength(
          periods.some(({ from, to }) => (from ?? 0) <= day && (to ?? 31) > day) ? 1 : 0,
        );
      }
    }),
    { numRuns, seed },
  );
});
