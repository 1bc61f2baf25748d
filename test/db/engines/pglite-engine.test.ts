import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../../support/database.ts';

const tenant = 'tenant-a';

describe.runIf(testEngine === 'pglite')('the embedded database', () => {
  let scratch: TestDatabase;
  beforeAll(async () => {
    scratch = await createTestDatabase();
  });
  afterAll(() => scratch.drop());

  async function storeRule(database: Database): Promise<string> {
    const id = randomUUID();
    const data = { tenantId: tenant, id, content: 'Serve tea at five.', createdAt: new Date() };
    await database.forTenant(tenant).transaction((transaction) => transaction.rule.create({ data }));
    return id;
  }

  async function listRules(database: Database): Promise<string[]> {
    const rules = await database.forTenant(tenant).client.rule.findMany({ select: { id: true } });
    return rules.map(({ id }) => id);
  }

  test('is refused to a second opener, and keeps what it holds when it is opened again', async () => {
    const id = await storeRule(scratch.database);
    await expect(openDatabase(scratch.options)).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringContaining(`is in use by process ${process.pid}`) as string,
    });
    expect(await listRules(await scratch.reopen())).toContain(id);
  });

  /** Each runs out of stack inside WebAssembly, which PGlite answers with an internal error or not at all. */
  test.each([
    ['json that is nested too deep', `SELECT length('${'['.repeat(200_000)}${']'.repeat(200_000)}'::jsonb::text)`],
    [
      'a function without end',
      `CREATE FUNCTION pg_temp.endless(i integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN pg_temp.endless(i + 1); END';
       SELECT pg_temp.endless(1)`,
    ],
  ])('survives %s', async (_what, statement) => {
    const id = await storeRule(scratch.database);
    await expect(scratch.database.asOwner((client) => client.query(statement))).rejects.toThrow();
    expect(await listRules(scratch.database)).toContain(id);
    await storeRule(scratch.database);
  });

  test('checkpoints as it goes, so that a start after a crash has little to replay', async () => {
    const logBytes = async (): Promise<number> => {
      const { rows } = await scratch.database.asOwner((client) =>
        client.query<{ bytes: number }>(
          'SELECT (pg_current_wal_insert_lsn() - redo_lsn)::float AS bytes FROM pg_control_checkpoint()',
        ),
      );
      return rows[0]?.bytes ?? 0;
    };
    await scratch.database.asOwner((client) =>
      client.query("CREATE TABLE bulk AS SELECT repeat('x', 1000) AS text FROM generate_series(1, 40000)"),
    );
    expect(await logBytes()).toBeGreaterThan(40_000_000);
    for (let statement = 0; statement < 32; statement++) await scratch.database.ping();
    expect(await logBytes()).toBeLessThan(1_000_000);
  });

  test('leaves most of the memory to the machine', async () => {
    const { rows } = await scratch.database.asOwner((client) => client.query('SHOW shared_buffers'));
    expect(rows).toEqual([{ shared_buffers: '32MB' }]);
  });

  test('survives the end of its session', async () => {
    await scratch.database
      .asOwner((client) => client.query('SELECT pg_terminate_backend(pg_backend_pid())'))
      .catch(() => undefined);
    await storeRule(scratch.database);
  });

  describe('in a directory that is damaged', () => {
    const versionFile = (): string => join(scratch.options.home, scratch.options.name, 'PG_VERSION');
    const lockFile = (): string => `${join(scratch.options.home, scratch.options.name)}.lock`;
    const cannotOpen = { code: 'STARTUP', message: expect.stringContaining('cannot be opened') as string };

    test('says so once and leaves the lock free', async () => {
      await scratch.close();
      const version = await readFile(versionFile());
      await writeFile(versionFile(), 'nonsense\n');
      await expect(openDatabase(scratch.options)).rejects.toMatchObject(cannotOpen);
      expect(existsSync(lockFile())).toBe(false);
      await writeFile(versionFile(), version);
      await storeRule(await scratch.reopen());
    });

    test('says so to whoever asks while it restarts, and serves when it is whole again', async () => {
      const database = await scratch.reopen({ statementTimeoutMs: 1_000 });
      const version = await readFile(versionFile());
      await writeFile(versionFile(), 'nonsense\n');
      const endless = database.queueQuery('SELECT count(*) FROM generate_series(1, 1000000000000)');
      await expect(endless).rejects.toMatchObject({ code: 'TIMEOUT' });
      const problem: unknown = await listRules(database).catch((error: unknown) => error);
      expect(problem).toMatchObject({ name: 'MemoryError', code: 'DATABASE_UNAVAILABLE' });
      // Callers are told this: not where the data is.
      expect((problem as Error).message).not.toContain(scratch.options.home);
      await writeFile(versionFile(), version);
      expect(await listRules(database)).not.toEqual([]);
    });

    test('can be closed while it cannot restart', async () => {
      const version = await readFile(versionFile());
      await writeFile(versionFile(), 'nonsense\n');
      const endless = scratch.database.queueQuery('SELECT count(*) FROM generate_series(1, 1000000000000)');
      await expect(endless).rejects.toMatchObject({ code: 'TIMEOUT' });
      await scratch.close();
      expect(existsSync(lockFile())).toBe(false);
      await writeFile(versionFile(), version);
      expect(await listRules(await scratch.reopen())).not.toEqual([]);
    });
  });
});
