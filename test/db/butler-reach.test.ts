import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PoolClient } from 'pg';
import type { Database, TenantDatabase } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertRow, listTables, rowOf, type Row } from '../support/rows.ts';

let database: Database;
let drop: () => Promise<void>;
let tables: string[];

const asButler = (table: string, butler: string): Promise<number> =>
  count(database.forTenant('t', butler === '' ? {} : { butler }), table);

async function count(reach: TenantDatabase, table: string): Promise<number> {
  return reach.transaction(async (transaction) => {
    const rows = await transaction.$queryRawUnsafe<{ count: number }[]>(`SELECT count(*)::int AS count FROM ${table}`);
    return rows[0]?.count ?? -1;
  });
}

/** One of home, one of work and one that is global, where a table tells them apart; and what says something of them. */
async function seed(client: Pick<PoolClient, 'query'>): Promise<void> {
  const insert = async (table: string, columns: Row = {}): Promise<string> => {
    const row = rowOf(table, 't', columns);
    await insertRow(client, table, row);
    return row['id'] as string;
  };
  const rules: Record<string, string> = {};
  for (const scope of ['global', 'home', 'work']) {
    const fact = await insert('facts', { scope });
    const rule = (rules[scope] = await insert('rules', { scope }));
    await insert('rule_applications', { rule_id: rule });
    await insert('memory_links', { source_id: fact, target_id: rule });
    for (const [entityType, entityId] of [
      ['fact', fact],
      ['rule', rule],
    ]) {
      await insert('memory_events', { entity_type: entityType, entity_id: entityId });
    }
    const link = { sourceType: 'fact', sourceId: fact, targetType: 'rule', targetId: rule };
    await insert('memory_events', { entity_type: 'link', entity_id: 'x', payload: { before: null, after: link } });
    await insert('memory_tombstones', { scope });
    const review = await insert('reviews', { scope, newer_id: fact, older_id: await insert('facts', { scope }) });
    await insert('memory_events', { entity_type: 'review', entity_id: review });
    if (scope === 'global') continue;
    await insert('memory_links', { source_id: fact, target_id: rules['global'] });
    const episode = await insert('episodes', { butler: scope });
    await insert('quarantined_items', { butler: scope, episode_id: episode });
    await insert('episode_tombstones', { butler: scope });
    await insert('context_receipts', { butler: scope });
    const run = await insert('consolidation_runs', { butler: scope });
    await insert('memory_events', { entity_type: 'episode', entity_id: episode });
    await insert('memory_events', { entity_type: 'consolidation_run', entity_id: run });
  }
  await insert('memory_events', { entity_type: 'token', entity_id: 'x' });
  for (const table of [
    'access_records',
    'job_runs',
    'event_days',
    'api_tokens',
    'data_keys',
    'embedding_versions',
    'idempotency_keys',
    'erasures',
  ]) {
    await insert(table);
  }
}

beforeAll(async () => {
  ({ database, drop } = await createTestDatabase());
  await database.asOwner(async (client) => {
    tables = await listTables(client);
    await seed(client);
  });
});
afterAll(() => drop());

/** Of all that there is of the tenant: how many a butler sees, and how many who works for the whole tenant sees. */
const seen: Record<string, { butler: number; tenant: number }> = {
  access_records: { butler: 0, tenant: 1 },
  api_tokens: { butler: 0, tenant: 1 },
  consolidation_runs: { butler: 1, tenant: 2 },
  context_receipts: { butler: 1, tenant: 2 },
  data_keys: { butler: 1, tenant: 1 },
  embedding_versions: { butler: 1, tenant: 1 },
  episode_tombstones: { butler: 1, tenant: 2 },
  episodes: { butler: 1, tenant: 2 },
  erasures: { butler: 0, tenant: 1 },
  event_chain: { butler: 0, tenant: 17 },
  event_days: { butler: 0, tenant: 1 },
  facts: { butler: 4, tenant: 6 },
  idempotency_keys: { butler: 1, tenant: 1 },
  job_runs: { butler: 0, tenant: 1 },
  memory_events: { butler: 10, tenant: 17 },
  memory_links: { butler: 3, tenant: 5 },
  memory_tombstones: { butler: 2, tenant: 3 },
  quarantined_items: { butler: 0, tenant: 2 },
  reviews: { butler: 2, tenant: 3 },
  rule_applications: { butler: 2, tenant: 3 },
  rules: { butler: 2, tenant: 3 },
};

describe('of its tenant', () => {
  it('every table is told here', () => {
    expect(Object.keys(seen)).toEqual(tables);
  });

  it.each(Object.entries(seen))('%s shows a butler what is global and its own', async (table, expected) => {
    expect(await asButler(table, 'home')).toBe(expected.butler);
    expect(await asButler(table, '')).toBe(expected.tenant);
  });

  it('a butler that has stored nothing sees what is global', async () => {
    expect(await asButler('facts', 'new')).toBe(2);
    expect(await asButler('episodes', 'new')).toBe(0);
    expect(await asButler('memory_events', 'new')).toBe(4);
  });

  it('a butler neither writes what is not its own nor gives its own away', async () => {
    const home = database.forTenant('t', { butler: 'home' });
    const run = (statement: string): Promise<number> =>
      home.transaction((transaction) => transaction.$executeRawUnsafe(statement));
    const refused = /row-level security/;
    await expect(
      run(`INSERT INTO episodes (tenant_id, id, butler, content, created_at, expires_at)
        VALUES ('t', gen_random_uuid(), 'work', 'x', now(), now())`),
    ).rejects.toThrow(refused);
    await expect(run(`UPDATE facts SET scope = 'work' WHERE scope = 'home'`)).rejects.toThrow(refused);
    expect(await run(`UPDATE facts SET importance = 1 WHERE scope = 'work'`)).toBe(0);
    expect(await run(`DELETE FROM rules WHERE scope = 'work'`)).toBe(0);
    expect(await run(`UPDATE facts SET importance = 1 WHERE scope = 'global'`)).toBe(2);
  });

  it('another tenant is not seen, whoever asks', async () => {
    const other = await database
      .forTenant('other', { butler: 'home' })
      .transaction((transaction) => transaction.$queryRaw<{ count: number }[]>`SELECT count(*)::int FROM facts`);
    expect(other).toEqual([{ count: 0 }]);
  });
});
