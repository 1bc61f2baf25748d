import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PoolClient } from 'pg';
import { listBoundaryFaults } from '../support/boundary-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertRow, listTables, rowOf, seedTenant, type Row } from '../support/rows.ts';

let scratch: TestDatabase;
let tables: string[];
const seeded: Record<string, Record<string, Row>> = {};

beforeAll(async () => {
  scratch = await createTestDatabase();
  await scratch.database.asOwner(async (client) => {
    tables = await listTables(client);
    for (const tenant of ['tenant-a', 'tenant-b']) seeded[tenant] = await seedTenant(client, tenant);
  });
});

afterAll(() => scratch.drop());

/** Raw SQL as the server's role, with nothing of the server between. What it does is rolled back. */
async function asServer<T>(tenantId: string | undefined, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return scratch.database.asOwner(async (client) => {
    await client.query('BEGIN');
    await client.query("SELECT set_config('role', 'butler_memory_app', true)");
    if (tenantId !== undefined) await client.query("SELECT set_config('app.tenant', $1, true)", [tenantId]);
    try {
      return await work(client);
    } finally {
      await client.query('ROLLBACK');
    }
  });
}

/** For every table, what the statement did: the number of rows it touched, or the SQLSTATE that refused it. */
async function onEveryTable(
  tenantId: string | undefined,
  run: (client: PoolClient, table: string) => Promise<number | null>,
): Promise<Record<string, number | string | null>> {
  return asServer(tenantId, async (client) => {
    const outcomes: Record<string, number | string | null> = {};
    for (const table of tables) {
      await client.query('SAVEPOINT before_table');
      outcomes[table] = await run(client, table).catch((error: { code: string }) => error.code);
      await client.query('ROLLBACK TO SAVEPOINT before_table');
    }
    return outcomes;
  });
}

function everywhere<T>(outcome: T, exceptions: Record<string, T> = {}): Record<string, T> {
  return { ...Object.fromEntries(tables.map((table) => [table, outcome])), ...exceptions };
}

const denied = '42501';
/** Not to be changed by the server, not even in its own tenant. */
const readOnly = { memory_events: denied, event_chain: denied, erasures: denied };
const count = async (client: PoolClient, sql: string): Promise<number | null> => (await client.query(sql)).rowCount;

test('the rows under test are in every table', () => {
  expect(Object.keys(seeded['tenant-a'] ?? {}).toSorted()).toEqual(tables);
});

describe('reading', () => {
  test.each([
    ['no tenant is set', undefined, 0],
    ['the tenant is empty', '', 0],
    ['the tenant has no rows', 'tenant-c', 0],
    ['the tenant has rows of its own', 'tenant-a', 1],
  ])('when %s, every table shows just its own', async (_when, tenantId, expected) => {
    expect(await onEveryTable(tenantId, (client, table) => count(client, `SELECT FROM ${table}`))).toEqual(
      everywhere(expected, { facts: 2 * expected }),
    );
  });

  test('asking for the rows of another tenant by its name shows none', async () => {
    const select = (client: PoolClient, table: string): Promise<number | null> =>
      count(client, `SELECT FROM ${table} WHERE tenant_id = 'tenant-b'`);
    expect(await onEveryTable('tenant-a', select)).toEqual(everywhere(0));
    expect(await onEveryTable('tenant-b', select)).toEqual(everywhere(1, { facts: 2 }));
  });
});

describe('writing', () => {
  test.each([
    ['no tenant is set', undefined],
    ['another tenant is set', 'tenant-a'],
  ])('when %s, no table takes a row for a tenant', async (_when, tenantId) => {
    const insert = async (client: PoolClient, table: string): Promise<number> => {
      await insertRow(client, table, rowOf(table, 'tenant-b', ends(table, 'tenant-b')));
      return 1;
    };
    // The ends of a link are looked up first, and those of another tenant are not there.
    expect(await onEveryTable(tenantId, insert)).toEqual(everywhere(denied, { memory_links: '23503' }));
    expect(await onEveryTable('tenant-b', insert)).toEqual(
      everywhere<number | string>(1, {
        data_keys: '23505',
        embedding_versions: '23505',
        memory_links: '23505',
        reviews: '23505',
        event_chain: denied,
        erasures: denied,
      }),
    );
  });

  test('an update touches only rows of the tenant that is set', async () => {
    const update = (client: PoolClient, table: string): Promise<number | null> =>
      count(client, `UPDATE ${table} SET tenant_id = tenant_id`);
    const unchangeable = { ...readOnly, access_records: denied };
    expect(await onEveryTable(undefined, update)).toEqual(everywhere<number | string>(0, unchangeable));
    expect(await onEveryTable('tenant-c', update)).toEqual(everywhere<number | string>(0, unchangeable));
    expect(await onEveryTable('tenant-a', update)).toEqual(
      everywhere<number | string>(1, { ...unchangeable, facts: 2 }),
    );
  });

  test('a delete touches only rows of the tenant that is set', async () => {
    const remove = (client: PoolClient, table: string): Promise<number | null> =>
      count(client, `DELETE FROM ${table} WHERE tenant_id = 'tenant-b'`);
    expect(await onEveryTable(undefined, remove)).toEqual(everywhere<number | string>(0, readOnly));
    expect(await onEveryTable('tenant-a', remove)).toEqual(everywhere<number | string>(0, readOnly));
    expect(await onEveryTable('tenant-b', remove)).toEqual(
      everywhere<number | string>(1, {
        ...readOnly,
        facts: 2,
        // Referred to by an application, and without a tombstone of its own.
        rules: '23503',
        episodes: '23001',
      }),
    );
  });

  test('no row can be given to another tenant', async () => {
    const giveAway = (client: PoolClient, table: string): Promise<number | null> =>
      count(client, `UPDATE ${table} SET tenant_id = 'tenant-b'`);
    expect(await onEveryTable('tenant-a', giveAway)).toEqual(everywhere(denied, { memory_links: '23503' }));
  });

  test('no table can be emptied or altered by the server', async () => {
    for (const statement of ['TRUNCATE $1', 'ALTER TABLE $1 DISABLE ROW LEVEL SECURITY', 'DROP TABLE $1']) {
      const outcomes = await onEveryTable('tenant-a', (client, table) => count(client, statement.replace('$1', table)));
      expect(outcomes).toEqual(everywhere(denied));
    }
  });
});

describe('the catalog', () => {
  test('has no fault in the boundary', async () => {
    expect(await scratch.database.asOwner(listBoundaryFaults)).toEqual([]);
  });

  const comparison = "tenant_id = current_setting('app.tenant', true)";
  const columns = 'tenant_id text NOT NULL, id uuid, PRIMARY KEY (tenant_id, id)';
  const policy = (reading: string, writing: string): string =>
    `ALTER TABLE stray ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON stray USING (${reading}) WITH CHECK (${writing});`;
  const sound = policy(comparison, comparison);

  test.each([
    [
      'no policy',
      `CREATE TABLE stray (${columns}); ALTER TABLE stray ENABLE ROW LEVEL SECURITY`,
      'stray has no policy',
    ],
    [
      'no policy but one that narrows',
      `CREATE TABLE stray (${columns}); ALTER TABLE stray ENABLE ROW LEVEL SECURITY;
       CREATE POLICY p ON stray AS RESTRICTIVE USING (${comparison})`,
      'stray has no policy',
    ],
    [
      'policies that are off',
      `CREATE TABLE stray (${columns}); ${sound} ALTER TABLE stray DISABLE ROW LEVEL SECURITY`,
      'stray does not enable',
    ],
    [
      'an open policy for reading',
      `CREATE TABLE stray (${columns}); ${policy('true', comparison)}`,
      'p does not compare tenant_id for reading',
    ],
    [
      'an open policy for writing',
      `CREATE TABLE stray (${columns}); ${policy(comparison, 'true')}`,
      'p does not compare tenant_id for writing',
    ],
    [
      'a second, open policy',
      `CREATE TABLE stray (${columns}); ${sound} CREATE POLICY q ON stray FOR SELECT USING (true)`,
      'q does not compare tenant_id for reading',
    ],
    ['no tenant_id', `CREATE TABLE stray (id uuid); ${policy('true', 'true')}`, 'stray has no tenant_id'],
    ['a tenant_id that may be null', `CREATE TABLE stray (tenant_id text); ${sound}`, 'stray has no tenant_id'],
    [
      'a unique key without tenant_id',
      `CREATE TABLE stray (${columns}, UNIQUE (id)); ${sound}`,
      'unique index stray_id_key lacks tenant_id',
    ],
    [
      'a foreign key without tenant_id',
      `CREATE TABLE stray (${columns}, parent uuid, UNIQUE (id), FOREIGN KEY (parent) REFERENCES stray (id)); ${sound}`,
      'foreign key stray_parent_fkey lacks tenant_id',
    ],
    [
      'the server as its owner',
      `CREATE TABLE stray (${columns}); ${sound} ALTER TABLE stray OWNER TO butler_memory_app`,
      'stray belongs to a role of the server',
    ],
  ])('a table with %s is found', async (_fault, statements, found) => {
    const faults = await scratch.database.asOwner(async (client) => {
      await client.query('BEGIN');
      await client.query(statements);
      try {
        return await listBoundaryFaults(client);
      } finally {
        await client.query('ROLLBACK');
      }
    });
    expect(faults.join('\n')).toContain(found);
  });
});

describe('the maintenance role', () => {
  test('can read no table at all', async () => {
    for (const table of [...tables, '_prisma_migrations']) {
      await expect(scratch.database.queueQuery(`SELECT FROM ${table}`), table).rejects.toMatchObject({ code: denied });
    }
  });

  test('lists the tenants, which the server may not', async () => {
    expect(await scratch.database.listTenants()).toEqual(['tenant-a', 'tenant-b']);
    await expect(asServer('tenant-a', (client) => client.query('SELECT memory_tenants()'))).rejects.toMatchObject({
      code: denied,
    });
  });

  test('sums what the models of all tenants have used, which the server may not', async () => {
    const sum = `SELECT * FROM consolidation_spending('2000-01-01', NULL)`;
    const { rows } = await scratch.database.queueQuery(sum);
    expect(Object.keys(rows[0] as object)).toEqual(['input_tokens', 'output_tokens', 'unsettled_runs']);
    await expect(asServer('tenant-a', (client) => client.query(sum))).rejects.toMatchObject({ code: denied });
  });

  test.each(['episodes', 'facts', 'rules', 'embedding_versions'])('lists a tenant that has only %s', async (table) => {
    const listed = await scratch.database.asOwner(async (client) => {
      await client.query('BEGIN');
      await insertRow(client, table, rowOf(table, 'tenant-d'));
      const { rows } = await client.query<{ tenant: string }>('SELECT memory_tenants() AS tenant');
      await client.query('ROLLBACK');
      return rows.map(({ tenant }) => tenant);
    });
    expect(listed).toEqual(['tenant-a', 'tenant-b', 'tenant-d']);
  });
});

function ends(table: string, tenantId: string): Row {
  const rows = seeded[tenantId] ?? {};
  if (table === 'rule_applications') return { rule_id: rows['rules']?.['id'] };
  if (table === 'memory_links') return { source_id: rows['facts']?.['id'], target_id: rows['rules']?.['id'] };
  if (table === 'quarantined_items') return { episode_id: rows['episodes']?.['id'] };
  if (table === 'reviews') return { newer_id: rows['facts']?.['id'], older_id: rows['reviews']?.['older_id'] };
  return {};
}
