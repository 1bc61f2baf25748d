import type { PoolClient } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { TenantDatabase } from '../../src/db/database.ts';
import { memoryTables } from '../../src/db/tables.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { searchMemories, searchMemoriesBatch } from '../../src/retrieval/search.ts';
import { testEngine } from '../support/database.ts';
import { drill } from '../support/drill.ts';
import { newTenant, useRetrieval } from './setup.ts';
import { storeEpisode } from '../support/writes.ts';

const rows = { episodes: 40_000, facts: 40_000, rules: 20_000 };

/** What the scans of one transaction have read, in functions that it called as well. */
interface Scans {
  relname: keyof typeof rows;
  seq_scan: number;
  idx_tup_fetch: number;
}

const readScans = Prisma.sql`
  SELECT json_agg(scans)::text FROM (
    SELECT relname, seq_scan::int, coalesce(idx_tup_fetch, 0)::int AS idx_tup_fetch FROM pg_stat_xact_user_tables
    WHERE relname IN ('episodes', 'facts', 'rules') ORDER BY relname
  ) scans`;

/** A connection may still count what it did before the transaction began. */
function subtract(after: readonly Scans[], before: readonly Scans[]): Scans[] {
  return after.map(({ relname, seq_scan, idx_tup_fetch }) => {
    const earlier = before.find((one) => one.relname === relname);
    return {
      relname,
      seq_scan: seq_scan - (earlier?.seq_scan ?? 0),
      idx_tup_fetch: idx_tup_fetch - (earlier?.idx_tup_fetch ?? 0),
    };
  });
}

/** PGlite has the same statements and no room for so many rows in the time of a test. */
describe.runIf(drill({ sample: false, all: testEngine === 'postgres' }))('among many rows', () => {
  const retrieval = useRetrieval();
  let context: MemoryContext;
  /** Of each round trip. */
  let scans: Scans[][] = [];

  beforeAll(async () => {
    context = retrieval.context({ principal: newTenant() });
    await storeEpisode(context, { butler: 'alfred', content: 'the first one, for the version of its vector' });
    await context.db.database.asOwner((client) => fillTables(client, context.principal.tenantId));
    context = watched(context);
  });

  /** The same context, which notes the scans of its round trips. */
  function watched(by: MemoryContext): MemoryContext {
    const { db } = by;
    const roundTrip: TenantDatabase['roundTrip'] = async (statements, settings) => {
      const answers = await db.roundTrip([readScans, ...statements, readScans], settings);
      const [before, after] = [answers.at(0), answers.at(-1)].map((text) => JSON.parse(text ?? '[]') as Scans[]);
      scans.push(subtract(after ?? [], before ?? []));
      return answers.slice(1, -1);
    };
    return { ...by, db: { ...db, roundTrip } };
  }

  /** No table was read from end to end, and of each fewer rows than so many. */
  const expectIndexed = (mostRows: (table: keyof typeof rows) => number): void => {
    for (const { relname, seq_scan, idx_tup_fetch } of scans.flat()) {
      expect({ relname, sequentialScans: seq_scan }).toEqual({ relname, sequentialScans: 0 });
      expect(idx_tup_fetch).toBeLessThan(mostRows(relname));
    }
  };

  /** The first search counts what there is, once for a while; it is not what the others are like. */
  beforeAll(async () => {
    await searchMemories(context, { query: 'walnut common' });
  });

  it.each(['keyword', 'semantic', 'hybrid'] as const)('a %s search reads few of them, by index', async (mode) => {
    scans = [];
    const { results } = await searchMemories(context, { query: 'walnut common', mode, limit: 50 });

    expect(results).toHaveLength(50);
    expect(new Set(scans.flat().map(({ relname }) => relname))).toEqual(new Set(Object.values(memoryTables)));
    expectIndexed((table) => rows[table] / 4);
  });

  it('a search is three round trips: its plan, its candidates, and the memories that it returns', async () => {
    scans = [];
    await searchMemories(context, { query: 'walnut common' });

    expect(scans).toHaveLength(3);
  });

  it('several searches are as many round trips as one', async () => {
    scans = [];
    const inputs = ['walnut', 'common', 'walnut common'].map((query) => ({ query }));
    const outcomes = await searchMemoriesBatch(context, inputs);

    expect(outcomes.map(({ results }) => results.length)).toEqual([20, 20, 20]);
    expect(scans).toHaveLength(3);
  });

  it('a word that is new is counted without reading all that have it', async () => {
    scans = [];
    await searchMemories(context, { query: 'shared' });

    expectIndexed((table) => rows[table] / 4);
  });

  describe('and many tenants', () => {
    const tenants = 1000;
    const rowsOfTenant = 3;

    beforeAll(async () => {
      const { principal, db } = context;
      await db.database.asOwner((client) => addTenants(client, principal.tenantId, { tenants, rowsOfTenant }));
    });

    /** A connection keeps a plan for all tenants once it has met the statement some times. */
    const searchOften = async (by: MemoryContext): Promise<number> => {
      let found = 0;
      for (let times = 0; times < 8; times++) {
        scans = [];
        found = (await searchMemories(by, { query: 'walnut common', limit: 50 })).results.length;
      }
      return found;
    };

    it('a search reads few rows of a large one, whatever is best for the others', async () => {
      expect(await searchOften(context)).toBe(50);
      expectIndexed((table) => rows[table] / 4);
    });

    it('and of a small one only its own', async () => {
      const small = watched(retrieval.context({ principal: { tenantId: 'small 1' } }));
      const found = await searchOften(small);

      expect(found).toBe(3 * rowsOfTenant);
      expectIndexed(() => 100);
    });
  });
});

/** Small ones, with copies of the large one's first rows and without vectors. */
async function addTenants(
  client: PoolClient,
  large: string,
  { tenants, rowsOfTenant }: { tenants: number; rowsOfTenant: number },
): Promise<void> {
  for (const table of Object.values(memoryTables)) {
    const { rows: own } = await client.query<{ attname: string }>(
      `SELECT attname FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
         AND attname NOT LIKE '%embedding%' AND attname NOT IN ('tenant_id', 'id')`,
      [table],
    );
    const columns = own.map(({ attname }) => attname).join(', ');
    await client.query(
      `INSERT INTO ${table} (tenant_id, id, ${columns})
       SELECT 'small ' || n, gen_random_uuid(), ${columns}
       FROM generate_series(1, ${tenants}) n,
         (SELECT * FROM ${table} WHERE tenant_id = $1 AND content LIKE '%walnut%' LIMIT ${rowsOfTenant}) copied`,
      [large],
    );
  }
  await client.query('ANALYZE episodes, facts, rules');
}

/** A vector index is filled in a minute row by row, and in seconds when it is built at the end. */
async function fillTables(client: PoolClient, tenantId: string): Promise<void> {
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    `SELECT indexname, indexdef FROM pg_indexes WHERE indexdef LIKE '%USING hnsw (embedding %'`,
  );
  for (const { indexname } of indexes) await client.query(`DROP INDEX ${indexname}`);
  for (const table of Object.values(memoryTables)) await client.query(fill(table), [tenantId]);
  await client.query(`SET maintenance_work_mem = '256MB'`);
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query('RESET maintenance_work_mem');
  await client.query('ANALYZE episodes, facts, rules');
}

/** Texts of which all have the same two words and one in fifty has the rare word, and vectors in random directions of a few dimensions. */
function fill(table: keyof typeof rows): string {
  const own = {
    episodes: { columns: 'butler, expires_at', values: `'alfred', now() + interval '30 years'` },
    facts: {
      columns: 'subject, predicate, recorded_at, last_confirmed_at',
      values: `'user', 'trait ' || n, now(), now()`,
    },
    rules: { columns: 'last_confirmed_at', values: 'now()' },
  }[table];
  return `
    INSERT INTO ${table} (tenant_id, id, content, created_at, embedding, embedding_version_id, ${own.columns})
    SELECT $1::text, gen_random_uuid(), 'common shared ' || md5(n::text) || CASE WHEN n % 50 = 0 THEN ' walnut' ELSE '' END,
      now() - n * interval '1 second', (
        SELECT array_agg(random() - 0.5) || array_fill(0::float8, ARRAY[version.dimensions - 8])
        FROM generate_series(1, 8) WHERE n > 0
      )::vector,
      version.id, ${own.values}
    FROM generate_series(1, ${rows[table]}) n, embedding_versions version
    WHERE version.tenant_id = $1::text AND version.status = 'active'`;
}
