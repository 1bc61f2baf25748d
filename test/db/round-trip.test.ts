import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseValue } from '../../src/db/database-value.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { listTables, seedTenant } from '../support/rows.ts';

let scratch: TestDatabase;
let tables: string[];

// One connection on both engines, so that whatever a round trip leaves behind meets the next one.
beforeAll(async () => {
  scratch = await createTestDatabase({ poolSize: 1 });
  await scratch.database.asOwner(async (client) => {
    tables = await listTables(client);
    for (const tenant of ['tenant-a', 'tenant-b']) await seedTenant(client, tenant);
  });
});

afterAll(() => scratch.drop());

const select = (...statements: Prisma.Sql[]): Promise<(string | null)[]> =>
  scratch.database.forTenant('tenant-a').roundTrip(statements);

const insertReceipt = (tenantId: string, id: string): Prisma.Sql => Prisma.sql`
  INSERT INTO context_receipts (tenant_id, id, kind, query, configuration_digest, created_at, expires_at)
  VALUES (${tenantId}, ${id}::uuid, 'search', 'tea', '', now(), now())`;

const countReceipts = (id: string): Prisma.Sql =>
  Prisma.sql`SELECT count(*) FROM context_receipts WHERE id = ${id}::uuid`;

describe('a round trip', () => {
  test.each([
    ['its own rows', 'tenant-a', '1'],
    ['none when it has none', 'tenant-c', '0'],
    ['none when it has no name', '', '0'],
  ])('shows a tenant %s, in every table', async (_what, tenantId, expected) => {
    const counts = tables.map((table) => Prisma.sql`SELECT count(*) FROM ${Prisma.raw(table)}`);

    const answer = await scratch.database.forTenant(tenantId).roundTrip(counts);

    // A review is of two facts.
    const rows = tables.map((table) => (expected === '1' && table === 'facts' ? '2' : expected));
    expect(answer).toEqual(rows);
  });

  test('shows no row of another tenant, even when asked for by its name', async () => {
    const counts = tables.map(
      (table) => Prisma.sql`SELECT count(*) FROM ${Prisma.raw(table)} WHERE tenant_id = ${'tenant-b'}`,
    );

    expect(await select(...counts)).toEqual(tables.map(() => '0'));
  });

  test('writes no row for another tenant', async () => {
    await expect(select(insertReceipt('tenant-b', randomUUID()))).rejects.toMatchObject({ code: '42501' });
  });

  test('has the role, the tenant, the time zone and the time limit of every other transaction', async () => {
    const settings = ['role', 'app.tenant', 'TimeZone', 'statement_timeout'];
    const statement = Prisma.sql`
      SELECT json_agg(current_setting(name) ORDER BY place)::text FROM unnest(${settings}::text[]) WITH ORDINALITY AS s (name, place)`;
    const [own] = await select(statement);
    const other = await scratch.database
      .forTenant('tenant-a')
      .transaction((transaction) => transaction.$queryRaw<{ json_agg: string }[]>(statement));

    expect(JSON.parse(own ?? '')).toEqual(JSON.parse(other[0]?.json_agg ?? ''));
  });

  test('leaves nothing of that behind, nor of its own settings', async () => {
    const inside = await scratch.database
      .forTenant('tenant-a')
      .roundTrip([Prisma.sql`SELECT current_setting('enable_hashjoin')`], { enable_hashjoin: 'off' });
    const { rows } = await scratch.database.asOwner((client) =>
      client.query(`SELECT current_setting('enable_hashjoin') AS hashjoin, current_setting('role') AS role,
        coalesce(current_setting('app.tenant', true), '') AS tenant`),
    );

    expect(inside).toEqual(['off']);
    expect(rows).toEqual([{ hashjoin: 'on', role: 'none', tenant: '' }]);
  });

  test('commits what it wrote', async () => {
    const id = randomUUID();
    await select(insertReceipt('tenant-a', id));

    expect(await select(countReceipts(id))).toEqual(['1']);
  });

  test('is one transaction: when a statement fails, none has happened and none after it is run', async () => {
    const [before, after] = [randomUUID(), randomUUID()];
    const work = select(insertReceipt('tenant-a', before), Prisma.sql`SELECT 1 / 0`, insertReceipt('tenant-a', after));

    await expect(work).rejects.toThrow('division by zero');
    expect(await select(countReceipts(before), countReceipts(after))).toEqual(['0', '0']);
  });

  test('whose tenant cannot be entered runs no statement', async () => {
    const id = randomUUID();
    const work = scratch.database
      .forTenant('tenant-a')
      .roundTrip([insertReceipt('tenant-a', id)], { no_such_setting: '1' });

    await expect(work).rejects.toThrow('no_such_setting');
    expect(await select(countReceipts(id))).toEqual(['0']);
  });

  test('answers each statement with the first column of its first row, or null', async () => {
    const answers = await select(
      Prisma.sql`SELECT n, 'other' FROM generate_series(1, 3) n ORDER BY n`,
      Prisma.sql`SELECT 1 WHERE false`,
      Prisma.sql`SELECT NULL UNION ALL SELECT 'second'`,
      Prisma.sql`SELECT 'täglich 🫖'`,
    );

    expect(answers).toEqual(['1', null, null, 'täglich 🫖']);
  });

  test('that takes too long ends with TIMEOUT', async () => {
    const { statementTimeoutMs } = scratch.options;
    await scratch.reopen({ statementTimeoutMs: 1000 });
    const endless = Prisma.sql`SELECT count(*) FROM generate_series(1, 100000000000) n`;
    await expect(select(endless)).rejects.toMatchObject({ code: 'TIMEOUT' });

    await scratch.reopen({ statementTimeoutMs });
    expect(await select(Prisma.sql`SELECT 1`)).toEqual(['1']);
  });
});

describe('the statements of round trips', () => {
  const keptNames = async (): Promise<string[]> => {
    const { rows } = await scratch.database.asOwner((client) =>
      client.query<{ name: string }>(`SELECT name FROM pg_prepared_statements WHERE name LIKE 'butler\\_%'`),
    );
    return rows.map(({ name }) => name);
  };

  test('are kept by a connection, each of them once', async () => {
    const statement = Prisma.sql`SELECT 'kept once'`;
    await select(statement);
    const before = await keptNames();
    await select(statement, statement);

    expect(await keptNames()).toEqual(before);
  });

  test('are kept for one tenant and find the rows of another all the same', async () => {
    const tenants = Prisma.sql`SELECT string_agg(DISTINCT tenant_id, ',') FROM facts`;
    for (const tenant of ['tenant-a', 'tenant-b', 'tenant-a']) {
      expect(await scratch.database.forTenant(tenant).roundTrip([tenants])).toEqual([tenant]);
    }
  });

  test('are let go when there are many, the oldest first', async () => {
    for (let number = 0; number < 100; number++) {
      expect(await select(Prisma.sql`SELECT ${Prisma.raw(String(number))}`)).toEqual([String(number)]);
    }
    const names = await keptNames();

    expect(names.length).toBeLessThanOrEqual(48);
    expect(await select(Prisma.sql`SELECT 0`, Prisma.sql`SELECT 99`)).toEqual(['0', '99']);
  });

  /** As a pooler does that gives the next transaction another connection. */
  const loseNames = (): Promise<unknown> => scratch.database.asOwner((client) => client.query('DEALLOCATE ALL'));

  test('are done again without names where the names are lost, and nothing is done twice', async () => {
    await scratch.reopen({});
    const id = randomUUID();
    const statements = [insertReceipt('tenant-a', randomUUID()), Prisma.sql`SELECT 'known'`];
    await select(...statements);
    await loseNames();

    expect(await select(insertReceipt('tenant-a', id), Prisma.sql`SELECT 'known'`)).toEqual([null, 'known']);
    expect(await select(countReceipts(id))).toEqual(['1']);
    expect(await keptNames()).toEqual([]);
    await scratch.reopen({});
  });

  test('are done again without names where another has taken the names', async () => {
    await scratch.reopen({});
    const taken = Prisma.sql`SELECT 'taken'`;
    await select(taken);
    const names = await keptNames();
    await scratch.reopen({});
    await scratch.database.asOwner(async (client) => {
      for (const name of names) await client.query(`PREPARE ${name} AS SELECT 'of another'`);
    });

    expect(await select(taken)).toEqual(['taken']);
    await scratch.reopen({});
  });
});

describe('a value', () => {
  test.each([
    ['a text', `it's "quoted" \\ {}, NULL`, 'text'],
    ['a list of texts', ['a', '', 'NULL', 'with "quotes"', 'back\\slash', 'comma, and {brace}', "it's"], 'text[]'],
    ['a list of nothing', [], 'text[]'],
    [
      'a list of lists',
      [
        [1, 2],
        [3, 4],
      ],
      'int[]',
    ],
    ['a number', 0.1 + 0.2, 'float8'],
    ['a boolean', true, 'boolean'],
  ])('arrives as it is: %s', async (_what, value, type) => {
    const [answer] = await select(Prisma.sql`SELECT to_json(${value}::${Prisma.raw(type)})::text`);

    expect(JSON.parse(answer ?? '')).toEqual(value);
  });

  test('that is a date arrives to the millisecond', async () => {
    const date = new Date('2026-03-04T05:06:07.089Z');
    const [answer] = await select(Prisma.sql`SELECT (extract(epoch FROM ${date}::timestamptz) * 1000)::float8`);

    expect(Number(answer)).toBe(date.getTime());
  });

  test('that is nothing arrives as null', async () => {
    expect(await select(Prisma.sql`SELECT ${null}::text IS NULL`)).toEqual(['t']);
    expect(databaseValue(undefined)).toBeNull();
  });

  test('of any other kind is refused', () => {
    expect(() => databaseValue({ a: 1 })).toThrow('(got object)');
  });
});
