import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../support/database.ts';
import { withAdmin } from '../support/postgres-admin.ts';
import { testDatabaseOptions } from '../support/templates.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const tenant = 'tenant-a';
const unavailable = { name: 'MemoryError', code: 'DATABASE_UNAVAILABLE' };

/** Every way in to the database. */
const doors: [string, (database: Database) => Promise<unknown>][] = [
  ['a transaction', (database) => database.forTenant(tenant).transaction((transaction) => transaction.episode.count())],
  ['a round trip', (database) => database.forTenant(tenant).roundTrip([Prisma.sql`SELECT count(*) FROM episodes`])],
  ['a single read', (database) => database.forTenant(tenant).client.episode.count()],
  ['the queue', (database) => database.queueQuery('SELECT 1')],
  ['the list of tenants', (database) => database.listTenants()],
  ['the owner', (database) => database.asOwner((client) => client.query('SELECT 1'))],
  ['a ping', (database) => database.ping()],
];

describe.runIf(testEngine === 'postgres')('a connection to PostgreSQL', () => {
  let scratch: TestDatabase;
  let proxy: TcpProxy;

  beforeAll(async () => {
    scratch = await createTestDatabase();
    proxy = await startTcpProxy(scratch.options.url ?? '');
    await scratch.reopen({ url: proxy.url, connectTimeoutMs: 1_000, poolSize: 2 });
  });

  afterAll(async () => {
    await scratch.drop();
    await proxy.close();
  });

  beforeEach(() => proxy.restore());

  const terminate = (url: string, condition = 'true'): Promise<unknown> =>
    withAdmin(url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'butler-memory' AND datname = current_database() AND ${condition}`,
      ),
    );

  /** The word that a connection has ended may still be on its way when the connection is used again. */
  const outcome = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'served',
      (error: { code: unknown }) => error.code,
    );

  test.each(doors)('that the server ended while idle is replaced for %s', async (_door, enter) => {
    await Promise.all([enter(scratch.database), enter(scratch.database)]);
    await terminate(proxy.url);
    expect(['served', 'DATABASE_UNAVAILABLE']).toContain(await outcome(enter(scratch.database)));
    await expect.poll(() => outcome(enter(scratch.database))).toBe('served');
  });

  const slow = 'SELECT pg_sleep(60)';
  test.each<[string, (database: Database) => Promise<unknown>]>([
    [
      'a transaction',
      (database) => database.forTenant(tenant).transaction((transaction) => transaction.$executeRawUnsafe(slow)),
    ],
    ['a single read', (database) => database.forTenant(tenant).client.$executeRawUnsafe(slow)],
    ['the queue', (database) => database.queueQuery(slow)],
    ['the owner', (database) => database.asOwner((client) => client.query(slow))],
  ])('that the server ends in a statement of %s is reported, and the next one serves', async (_door, enter) => {
    const work = enter(scratch.database).catch((error: unknown) => error);
    await expect.poll(() => countRunning(scratch.options.url ?? '')).toBe(1);
    await terminate(proxy.url, "query LIKE '%pg_sleep%'");
    expect(await work).toMatchObject(unavailable);
    for (const [door, enterAgain] of doors) expect(await outcome(enterAgain(scratch.database)), door).toBe('served');
  });

  test('that the server ends between two statements of a transaction takes back the first', async () => {
    const work = scratch.database.forTenant(tenant).transaction(async (transaction) => {
      await transaction.rule.create({
        data: { tenantId: tenant, id: '00000000-0000-4000-8000-000000000001', content: 'Lost.', createdAt: new Date() },
      });
      await terminate(proxy.url, "state = 'idle in transaction'");
      await transaction.rule.count();
    });
    await expect(work).rejects.toMatchObject(unavailable);
    expect(await scratch.database.forTenant(tenant).client.rule.count()).toBe(0);
  });

  test.each<[string, (database: Database) => Promise<unknown>]>([
    [
      'between two statements of a transaction',
      (database) =>
        database.forTenant(tenant).transaction(async (transaction) => {
          await transaction.rule.count();
          proxy.stall();
          await transaction.rule.count();
        }),
    ],
    [
      'before the end of a transaction',
      (database) =>
        database.forTenant(tenant).transaction(async (transaction) => {
          await transaction.rule.count();
          proxy.stall();
        }),
    ],
    // The owner's work may take any time.
    ...doors
      .filter(([door]) => door !== 'the owner')
      .map(([door, enter]): [string, (database: Database) => Promise<unknown>] => [
        `before ${door}`,
        async (database) => {
          await enter(database);
          proxy.stall();
          await enter(database);
        },
      ]),
  ])('that falls silent %s is reported once a statement cannot run any more', async (_when, enter) => {
    const database = await scratch.reopen({ statementTimeoutMs: 500 });
    try {
      await expect(enter(database)).rejects.toMatchObject(unavailable);
      await proxy.restore();
      for (const [door, enterAgain] of doors) expect(await outcome(enterAgain(database)), door).toBe('served');
    } finally {
      await proxy.restore();
      await scratch.reopen({ statementTimeoutMs: testDatabaseOptions.statementTimeoutMs });
    }
  });

  test("that is silent while the owner's statement runs is kept: it may take any time", async () => {
    const database = await scratch.reopen({ statementTimeoutMs: 100 });
    await database.asOwner((client) => client.query('SELECT pg_sleep(1.5)'));
    await scratch.reopen({ statementTimeoutMs: testDatabaseOptions.statementTimeoutMs });
  });

  test.each(doors)('that is cut and refused is reported by %s, until it comes back', async (_door, enter) => {
    await enter(scratch.database);
    await proxy.cut();
    await expect(enter(scratch.database)).rejects.toMatchObject(unavailable);
    await proxy.restore();
    expect(await outcome(enter(scratch.database))).toBe('served');
  });

  test.each(doors)('that is never answered is reported by %s', async (_door, enter) => {
    await proxy.silence();
    await expect(enter(scratch.database)).rejects.toMatchObject(unavailable);
  });

  test('that breaks in the middle of a statement is reported', async () => {
    const work = scratch.database.queueQuery(slow).catch((error: unknown) => error);
    await expect.poll(() => countRunning(scratch.options.url ?? '')).toBe(1);
    await proxy.cut();
    expect(await work).toMatchObject(unavailable);
  });

  test('that cannot be made at start names the database, without its password', async () => {
    await proxy.cut();
    const url = new URL(proxy.url);
    url.password = 'secret';
    const start = openDatabase({ ...scratch.options, url: url.toString() });
    const error: unknown = await start.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'STARTUP' });
    expect(String(error)).toContain(url.host);
    expect(String(error)).not.toContain('secret');
  });
});

/** Through a connection of its own, past the proxy's state. */
async function countRunning(url: string): Promise<number> {
  const { rows } = await withAdmin(url, (client) =>
    client.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`,
    ),
  );
  return rows[0]?.count ?? 0;
}
