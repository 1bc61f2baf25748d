import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Transaction } from '../../src/db/database.ts';
import { MemoryError } from '../../src/shared/errors.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../support/database.ts';
import { testDatabaseOptions } from '../support/templates.ts';

const tenant = 'tenant-a';
const createdAt = new Date('2026-03-04T05:06:07.089Z');
let scratch: TestDatabase;

// One connection on both engines, so that whatever a transaction leaves behind meets the next one.
beforeAll(async () => {
  scratch = await createTestDatabase({ poolSize: 1 });
});

afterAll(() => scratch.drop());

function storeEpisode(transaction: Transaction, id: string, tenantId = tenant): Promise<unknown> {
  const expiresAt = new Date('2036-01-01T00:00:00.000Z');
  return transaction.episode.create({
    data: { tenantId, id, butler: 'alfred', content: 'The tea was served.', createdAt, expiresAt },
  });
}

async function findEpisode(database: Database, id: string, tenantId = tenant): Promise<{ createdAt: Date } | null> {
  return database.forTenant(tenantId).client.episode.findUnique({ where: { tenantId_id: { tenantId, id } } });
}

describe('a transaction', () => {
  test('commits all of its work', async () => {
    const ids = [randomUUID(), randomUUID()];
    await scratch.database.forTenant(tenant).transaction(async (transaction) => {
      for (const id of ids) await storeEpisode(transaction, id);
    });
    for (const id of ids) expect(await findEpisode(scratch.database, id)).not.toBeNull();
  });

  test('leaves nothing when a statement in it fails', async () => {
    const id = randomUUID();
    const work = scratch.database.forTenant(tenant).transaction(async (transaction) => {
      await storeEpisode(transaction, id);
      await transaction.$executeRaw`SELECT 1 / 0`;
    });
    await expect(work).rejects.toThrow('division by zero');
    expect(await findEpisode(scratch.database, id)).toBeNull();
  });

  test('leaves nothing when its own code throws, and passes the error on unchanged', async () => {
    const id = randomUUID();
    const mistake = new Error('a mistake of ours');
    const work = scratch.database.forTenant(tenant).transaction(async (transaction) => {
      await storeEpisode(transaction, id);
      throw mistake;
    });
    await expect(work).rejects.toBe(mistake);
    expect(await findEpisode(scratch.database, id)).toBeNull();
  });

  test('passes a violated constraint on to whoever knows what it means', async () => {
    const id = randomUUID();
    const twice = scratch.database.forTenant(tenant).transaction(async (transaction) => {
      await storeEpisode(transaction, id);
      await storeEpisode(transaction, id);
    });
    const error: unknown = await twice.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'P2002' });
    expect(error).not.toBeInstanceOf(MemoryError);
  });

  test('refuses to write for another tenant than its own', async () => {
    const id = randomUUID();
    const work = scratch.database
      .forTenant(tenant)
      .transaction((transaction) => storeEpisode(transaction, id, 'tenant-b'));
    await expect(work).rejects.toThrow('row-level security');
    expect(await findEpisode(scratch.database, id, 'tenant-b')).toBeNull();
  });

  test('waits for its turn: many at once all succeed, each within its own tenant', async () => {
    const tenants = Array.from({ length: 60 }, (_, index) => `crowd-${index % 6}`);
    const counts = await Promise.all(
      tenants.map((name) =>
        scratch.database.forTenant(name).transaction(async (transaction) => {
          await storeEpisode(transaction, randomUUID(), name);
          const seen = await transaction.episode.findMany({ select: { tenantId: true } });
          expect(new Set(seen.map(({ tenantId }) => tenantId))).toEqual(new Set([name]));
          return seen.length;
        }),
      ),
    );
    expect(counts.toSorted((a, b) => a - b)).toEqual(tenants.map((_, index) => Math.floor(index / 6) + 1));
  });
});

describe('a session', () => {
  interface Settings {
    user: string;
    tenant: string;
    zone: string;
    timeout: string;
  }

  async function settings(): Promise<Settings | undefined> {
    const { rows } = await scratch.database.asOwner((client) =>
      client.query<Settings>(
        `SELECT current_user AS user, coalesce(current_setting('app.tenant', true), '') AS tenant,
           current_setting('TimeZone') AS zone, current_setting('statement_timeout') AS timeout`,
      ),
    );
    return rows[0];
  }

  test.each([
    [
      'a transaction',
      (database: Database) => database.forTenant(tenant).transaction((transaction) => transaction.episode.count()),
    ],
    [
      'a transaction that failed',
      (database: Database) =>
        database.forTenant(tenant).transaction((transaction) => transaction.$executeRaw`SELECT 1 / 0`),
    ],
    ['a single read', (database: Database) => database.forTenant(tenant).client.episode.count()],
    ['a single read that failed', (database: Database) => database.forTenant(tenant).client.$queryRaw`SELECT 1 / 0`],
    ['a statement of the queue', (database: Database) => database.queueQuery('SELECT 1')],
    ['a statement of the queue that failed', (database: Database) => database.queueQuery('SELECT 1 / 0')],
    ['the list of tenants', (database: Database) => database.listTenants()],
  ])('has no role, tenant, time zone or limit left after %s', async (_what, work) => {
    const before = await settings();
    await work(scratch.database).catch(() => undefined);
    expect(await settings()).toEqual(before);
    expect(before).toMatchObject({ tenant: '', timeout: '0' });
    expect(before?.user).not.toMatch(/^butler_memory/);
  });

  test('works as the server in a transaction and as maintenance in the queue', async () => {
    const { database } = scratch;
    const [row] = await database
      .forTenant(tenant)
      .transaction(
        (transaction) =>
          transaction.$queryRaw<unknown[]>`SELECT current_user::text AS user, current_setting('app.tenant') AS tenant`,
      );
    expect(row).toEqual({ user: 'butler_memory_app', tenant });
    expect(await database.forTenant(tenant).client.$queryRaw`SELECT current_user::text AS user`).toEqual([
      { user: 'butler_memory_app' },
    ]);
    const { rows } = await database.queueQuery('SELECT current_user AS user, $1::text AS value', ['given']);
    expect(rows).toEqual([{ user: 'butler_memory_maintenance', value: 'given' }]);
  });
});

describe('time', () => {
  const currentZone = "SELECT current_setting('TimeZone') AS zone";

  async function expectUtc(database: Database): Promise<void> {
    const id = randomUUID();
    await database.forTenant(tenant).transaction((transaction) => storeEpisode(transaction, id));
    expect(await findEpisode(database, id)).toMatchObject({ createdAt });
    const stored = await database.asOwner((client) =>
      client.query("SELECT (created_at AT TIME ZONE 'UTC')::text AS utc FROM episodes WHERE id = $1", [id]),
    );
    expect(stored.rows).toEqual([{ utc: '2026-03-04 05:06:07.089' }]);
    expect(await database.forTenant(tenant).client.$queryRawUnsafe(currentZone)).toEqual([{ zone: 'UTC' }]);
    expect(await database.queueQuery(currentZone)).toMatchObject({ rows: [{ zone: 'UTC' }] });
  }

  test('is UTC in every transaction and comes back as it went in, whatever the session is set to', async () => {
    await scratch.database.asOwner((client) => client.query("SET TimeZone = 'Asia/Kolkata'"));
    await expectUtc(scratch.database);
    const { rows } = await scratch.database.asOwner((client) => client.query(currentZone));
    expect(rows).toEqual([{ zone: 'Asia/Kolkata' }]);
  });

  test.runIf(testEngine === 'postgres')('is UTC whatever the database is set to', async () => {
    await scratch.database.asOwner(async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
      await client.query(`ALTER DATABASE "${rows[0]?.name}" SET timezone = 'America/St_Johns'`);
    });
    const database = await scratch.reopen();
    const { rows } = await database.asOwner((client) => client.query(currentZone));
    expect(rows).toEqual([{ zone: 'America/St_Johns' }]);
    await expectUtc(database);
  });
});

describe('a limit', () => {
  const endless = 'SELECT count(*)::text FROM generate_series(1, 1000000000000)';

  // Long enough for what must succeed on a busy machine, on PGlite even the start of its thread.
  beforeAll(() => scratch.reopen({ statementTimeoutMs: 2_000 }));
  afterAll(() => scratch.reopen({ statementTimeoutMs: testDatabaseOptions.statementTimeoutMs }));

  test.each([
    [
      'a transaction',
      (database: Database) =>
        database.forTenant(tenant).transaction((transaction) => transaction.$queryRawUnsafe(endless)),
    ],
    ['a single read', (database: Database) => database.forTenant(tenant).client.$queryRawUnsafe(endless)],
    ['the queue', (database: Database) => database.queueQuery(endless)],
  ])('ends a statement of %s that takes too long, and the database serves on', async (_what, work) => {
    const kept = randomUUID();
    await scratch.database.forTenant(tenant).transaction((transaction) => storeEpisode(transaction, kept));
    await expect(work(scratch.database)).rejects.toMatchObject({ name: 'MemoryError', code: 'TIMEOUT' });
    expect(await findEpisode(scratch.database, kept)).not.toBeNull();
  });

  test('that ends a statement takes back what its transaction had written', async () => {
    const id = randomUUID();
    const work = scratch.database.forTenant(tenant).transaction(async (transaction) => {
      await storeEpisode(transaction, id);
      await transaction.$queryRawUnsafe(endless);
    });
    await expect(work).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(await findEpisode(scratch.database, id)).toBeNull();
  });

  test('on statements does not end those that wait for their turn behind the one that it ends', async () => {
    const slow = scratch.database.queueQuery(endless).catch((error: unknown) => error);
    const ids = Array.from({ length: 5 }, () => randomUUID());
    await Promise.all(
      ids.map((id) => scratch.database.forTenant(tenant).transaction((transaction) => storeEpisode(transaction, id))),
    );
    expect(await slow).toMatchObject({ code: 'TIMEOUT' });
    for (const id of ids) expect(await findEpisode(scratch.database, id)).not.toBeNull();
  });

  test("is not for the owner's work, whatever else runs beside it", async () => {
    const { database } = scratch;
    const short = database.asOwner((client) => client.query('SELECT 1'));
    const long = database.asOwner((client) => client.query('SELECT pg_sleep(2.5)'));
    const other = database.forTenant(tenant).transaction((transaction) => transaction.episode.count());
    await expect(Promise.all([short, long, other])).resolves.toHaveLength(3);
  });

  test('holds again after the work of the owner', async () => {
    await scratch.database.asOwner((client) => client.query('SELECT 1'));
    await expect(scratch.database.queueQuery(endless)).rejects.toMatchObject({ code: 'TIMEOUT' });
  });
});

describe('a transaction without end', () => {
  beforeAll(() => scratch.reopen({ transactionTimeoutMs: 1_000 }));
  afterAll(() => scratch.reopen({ transactionTimeoutMs: testDatabaseOptions.transactionTimeoutMs }));

  test('is ended, as are those that wait for it too long, and the database serves on', async () => {
    const { database } = scratch;
    const id = randomUUID();
    const hold = (): Promise<unknown> =>
      database.forTenant(tenant).transaction(async (transaction) => {
        await storeEpisode(transaction, id);
        for (;;) await transaction.episode.count();
      });
    const outcomes = await Promise.allSettled([hold(), hold(), hold()]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TIMEOUT' } });
    expect(await findEpisode(database, id)).toBeNull();
    await database.forTenant(tenant).transaction((transaction) => storeEpisode(transaction, id));
    expect(await findEpisode(database, id)).not.toBeNull();
  });
});
