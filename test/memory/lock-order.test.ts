import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { planSubjectErasure } from '../../src/memory/erasure/plan-erasure.ts';
import { claimNext, evidenceOf, observe } from '../lifecycle/consolidation/setup.ts';
import { createTestCore, lastEventOf, type TestCore } from '../support/core.ts';
import { testEngine } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { applyOutput, eraseSubject, undoEvent } from '../support/writes.ts';

let core: TestCore;
const context = (): MemoryContext => core.context({ role: 'admin' });

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const hashOf = (subject: string): string => `
  SELECT k.predicate, hashtextextended(
    jsonb_build_array('default', 'global', memory_key('${subject}'), memory_key(k.predicate))::text, 0)::text AS hash
  FROM generate_series(1, 6) n, concat('predicate ', n) AS k (predicate) ORDER BY 2::bigint DESC`;

interface Key {
  predicate: string;
  hash: string;
}

/** Keys whose order by id, once their facts are stored, is the reverse of that by hash. */
const keysOf = (subject: string): Promise<Key[]> =>
  core.db.forTenant('default').client.$queryRawUnsafe<Key[]>(hashOf(subject));

/** A consolidation run that states one fact for each key. */
async function consolidate(subject: string, keys: readonly Key[], content: string): Promise<string> {
  await observe(core, subject, content);
  const claim = await claimNext(context(), { butler: subject });
  const evidence = evidenceOf(...claim.episodes);
  const facts = keys.map(({ predicate }) => ({ subject, predicate, content, scope: 'global', evidence }));
  await applyOutput(context(), claim.runId, { new_facts: facts });
  return claim.runId;
}

const countWaiting = async (): Promise<number> => {
  const { rows } = await core.db.asOwner((client) =>
    client.query<{
      count: number;
    }>(`SELECT count(*)::int AS count FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()`),
  );
  return rows[0]?.count ?? 0;
};

/** Starts both while the first key by id is held, so that each has taken what it takes before that one. */
async function runBoth(held: Key, first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<unknown[]> {
  let results: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await core.db.forTenant('default').transaction(async (transaction: Transaction) => {
    await transaction.$queryRawUnsafe(`SELECT pg_advisory_xact_lock(${held.hash})::text`);
    const running = first();
    await eventually(async () => expect(await countWaiting()).toBe(1));
    results = Promise.allSettled([running, second()]);
    await eventually(async () => expect(await countWaiting()).toBe(2));
  });
  return (await results)?.map((result) => (result.status === 'rejected' ? result.reason : result.status)) ?? [];
}

/** PGlite has one connection: nobody waits for a lock. */
describe.runIf(testEngine === 'postgres')('the locks of fact keys are taken in one order', () => {
  it('by an undo and a consolidation run', async () => {
    const keys = await keysOf('guest');
    const runId = await consolidate('guest', keys, 'tea');
    const eventId = await lastEventOf(core, runId, 'consolidation_run.succeeded');

    expect(
      await runBoth(
        keys[0] as Key,
        () => undoEvent(context(), { eventId }),
        () => consolidate('guest', keys, 'coffee'),
      ),
    ).toEqual(['fulfilled', 'fulfilled']);
  });

  it('by an erasure and a consolidation run', async () => {
    const keys = await keysOf('visitor');
    await consolidate('visitor', keys, 'tea');
    const { confirmation } = await planSubjectErasure(context(), { subject: 'visitor' });

    expect(
      await runBoth(
        keys[0] as Key,
        () => eraseSubject(context(), { subject: 'visitor', confirm: confirmation }),
        () => consolidate('visitor', keys, 'coffee'),
      ),
    ).toEqual(['fulfilled', 'fulfilled']);
  });
});
