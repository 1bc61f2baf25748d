import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { storeFact } from '../../support/writes.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { drill } from '../../support/drill.ts';
import { expectNoDifference } from '../../support/verify.ts';

const runs = Number(process.env['BUTLER_PROPERTY_RUNS'] ?? drill({ sample: 8, all: 60 }));
const seed = Number(process.env['BUTLER_PROPERTY_SEED'] ?? 1);

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

/** What was said on a day, in days from the start of the test: days after it have yet to come. */
interface Statement {
  key: number;
  content: number;
  said: number;
  from: number | null;
  to: number | null;
}

const period = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ from: null, to: null }) },
  { weight: 1, arbitrary: fc.record({ from: fc.constantFrom(-20, 10, 20), to: fc.constant(null) }) },
  { weight: 1, arbitrary: fc.record({ from: fc.constant(null), to: fc.constantFrom(-5, 15, 30) }) },
  { weight: 1, arbitrary: fc.record({ from: fc.constantFrom(-40, 12), to: fc.constantFrom(14, 25) }) },
);
/** Each day one statement, so that none is said at the moment of another; contents differ as soon as a period is given. */
const shard: fc.Arbitrary<Statement[]> = fc
  .array(fc.tuple(fc.nat(1), fc.nat(2), period), { minLength: 2, maxLength: 6 })
  .map((said) =>
    said.map(([key, content, { from, to }], place) => ({
      key,
      content: from === null && to === null ? content : 10 + place,
      said: place - said.length - 60,
      from,
      to,
    })),
  );

const dayOf = (day: number | null): Date | null => (day === null ? null : core.day(day));

async function read(statements: readonly Statement[]): Promise<MemoryContext> {
  const context = core.context({ tenantId: randomUUID() });
  for (const { key, content, said, from, to } of statements) {
    await storeFact(context, {
      subject: 'user',
      predicate: `key ${key}`,
      content: `content ${content}`,
      observedAt: core.day(said),
      validFrom: dayOf(from),
      validTo: dayOf(to),
    });
  }
  return context;
}

/** The live facts, with all that decides when they are current. */
async function readLive({ db }: MemoryContext): Promise<object[]> {
  const rows = await db.client.fact.findMany({
    where: { validity: { in: ['active', 'fading'] } },
    select: {
      predicate: true,
      content: true,
      validFrom: true,
      validTo: true,
      lastConfirmedAt: true,
      setAside: true,
    },
  });
  return rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

it('gives the same live facts in whatever order a shard is read', async () => {
  const shuffled = shard.chain((statements) =>
    fc.tuple(
      fc.constant(statements),
      fc.shuffledSubarray(statements, { minLength: statements.length, maxLength: statements.length }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, async ([statements, other]) => {
      const expected = await readLive(await read(statements));
      expect(await readLive(await read(other))).toEqual(expected);
    }),
    { numRuns: runs, seed },
  );
  await expectNoDifference(core);
});

it('adds nothing when a shard is read a second time', async () => {
  await fc.assert(
    fc.asyncProperty(shard, async (statements) => {
      const once = await read(statements);
      const live = await readLive(once);
      const count = await once.db.client.fact.count();
      for (const { key, content, said, from, to } of statements) {
        await storeFact(once, {
          subject: 'user',
          predicate: `key ${key}`,
          content: `content ${content}`,
          observedAt: core.day(said),
          validFrom: dayOf(from),
          validTo: dayOf(to),
        });
      }
      expect(await readLive(once)).toEqual(live);
      expect(await once.db.client.fact.count()).toBe(count);
    }),
    { numRuns: Math.ceil(runs / 2), seed },
  );
});
