import { predicateKey } from '../../src/memory/facts/lexicon.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockFactKeys } from '../../src/db/queries/facts.ts';
import { lockRuleTexts } from '../../src/db/queries/rules.ts';
import type { Transaction } from '../../src/db/database.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

/** PGlite has one connection, for which everybody waits. */
describe.runIf(testEngine === 'postgres')('a pool of four connections', () => {
  let core: TestCore;
  let scratch: TestDatabase;
  const context = (): MemoryContext => ({ ...core.context(), db: scratch.database.forTenant('default') });

  beforeAll(async () => {
    core = await createTestCore();
    scratch = await createTestDatabase({ poolSize: 4, connectTimeoutMs: 2000 });
    await storeEpisode(context(), { butler: 'home', content: 'the first write registers the model' });
  });
  afterAll(async () => {
    await scratch.drop();
    await core.close();
  });

  /** Does the work while another transaction holds what `lock` locks. */
  async function whileLocked<T>(
    lock: (transaction: Transaction) => Promise<unknown>,
    work: () => Promise<T>,
  ): Promise<T> {
    return context().db.transaction(async (transaction) => {
      await lock(transaction);
      return work();
    });
  }

  const untilOneWaits = (): Promise<void> =>
    eventually(async () => {
      const { rows } = await scratch.database.asOwner((client) =>
        client.query<{ count: number }>(`SELECT count(*)::int AS count FROM pg_locks l
          JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
          WHERE l.locktype = 'advisory' AND NOT l.granted`),
      );
      expect(rows[0]?.count).toBe(1);
    });

  it('serves others while many writers wait for one fact key', async () => {
    const key = { scope: 'global', subject: 'user', predicate: 'drinks', predicateKey: predicateKey('drinks') };
    const contents = Array.from({ length: 50 }, (_, number) => `tea ${number}`);
    const { writing } = await whileLocked(
      (transaction) => lockFactKeys(transaction, { keys: [key] }),
      async () => {
        const all = Promise.all(
          contents.map((content) => storeFact(context(), { subject: 'user', predicate: 'drinks', content })),
        );
        await untilOneWaits();
        await storeEpisode(context(), { butler: 'home', content: 'meanwhile' });
        return { writing: all };
      },
    );

    expect((await writing).map(({ content }) => content)).toEqual(contents);
  });

  it('serves others while many writers wait for one text of a rule', async () => {
    const rule = { scope: 'global', content: 'Knock first' };
    const { writing } = await whileLocked(
      (transaction) => lockRuleTexts(transaction, [rule]),
      async () => {
        const all = Promise.all(Array.from({ length: 20 }, () => storeRule(context(), rule)));
        await untilOneWaits();
        await storeEpisode(context(), { butler: 'home', content: 'meanwhile' });
        return { writing: all };
      },
    );

    expect(new Set((await writing).map(({ id }) => id)).size).toBe(1);
  });

  it('says that it is full, and that the request may be sent again', async () => {
    const { db } = context();
    const hold = (others: number): Promise<unknown> =>
      others === 0
        ? Promise.allSettled([db.transaction(async () => undefined), db.client.fact.count(), db.roundTrip([])])
        : db.transaction(() => hold(others - 1));

    const refusal = { code: 'QUEUE_FULL', message: 'every connection to the database is in use' };
    expect(await hold(4)).toMatchObject([{ reason: refusal }, { reason: refusal }, { reason: refusal }]);
  });
});
