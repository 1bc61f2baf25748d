import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  migrate,
  pendingMigrations,
  readMigrations,
  type Migration,
  type MigrationReport,
} from '../../src/db/migrate.ts';
import type { ContextReceipt } from '../../src/generated/prisma/client.ts';
import { readChosen, readRanked } from '../../src/retrieval/receipts/receipt-form.ts';
import { createEmptyDatabase, testEngine, type TestDatabase } from '../support/database.ts';
import { drill } from '../support/drill.ts';
import { insertRow, listTables, rowOf, seedTenant } from '../support/rows.ts';
import { runTypescript } from '../support/run-typescript.ts';
import { applyWithPrisma, diagnoseWithPrisma } from '../support/schema-engine.ts';

const migrations = await readMigrations();
const names = migrations.map(({ name }) => name);
let scratch: TestDatabase;

beforeAll(async () => {
  scratch = await createEmptyDatabase();
});

/** As empty as a new database, and much sooner there on PGlite. */
afterEach(async () => {
  await scratch.database.asOwner((client) =>
    client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC'),
  );
});

afterAll(() => scratch.drop());

describe('applying', () => {
  test('an empty database gets every migration, once', async () => {
    expect(await pendingMigrations(scratch.database)).toEqual(names);
    expect(await migrate(scratch.database)).toEqual({ applied: names, total: names.length });
    expect(await pendingMigrations(scratch.database)).toEqual([]);
    expect(await migrate(scratch.database)).toEqual({ applied: [], total: names.length });
    expect(await recorded()).toEqual(names);
  });

  // The newest are the ones that somebody is working on.
  const places = names.map((name, index) => ({ name, index }));
  test.each(drill({ sample: places.slice(-4), all: places }))(
    'the rows that stood before $name survive it',
    async ({ index }) => {
      await migrate(scratch.database, migrations.slice(0, index));
      if (index > 0) await scratch.database.asOwner((client) => seedTenant(client, 'tenant-a'));
      const before = await countRows();

      expect(await migrate(scratch.database)).toEqual({ applied: names.slice(index), total: names.length });

      expect(await countRows()).toMatchObject(before);
      if (index > 0) expect(Object.values(before)).not.toContain(0);
    },
  );

  test('two starts in one process apply each migration once', async () => {
    const reports = await Promise.all([migrate(scratch.database), migrate(scratch.database)]);
    expect(reports.flatMap(({ applied }) => applied).toSorted()).toEqual(names);
    expect(await recorded()).toEqual(names);
  });

  test.runIf(testEngine === 'postgres')('two processes that start together apply each migration once', async () => {
    const start = (): Promise<MigrationReport> => runTypescript<MigrationReport>('migrate-child', scratch.options);
    const reports = await Promise.all([start(), start()]);
    expect(reports.flatMap(({ applied }) => applied).toSorted()).toEqual(names);
    expect(await recorded()).toEqual(names);
  });
});

describe('receipts', () => {
  const [fact, rule, episode, other] = ['1', '2', '3', '4'].map((last) => `01890000-0000-7000-8000-00000000000${last}`);
  const place = names.indexOf('20261116235500_receipts_by_position');
  /** As they were kept by name: of parts and composites, what is not usual. */
  const before = {
    candidates: [
      {
        type: 'fact',
        id: fact,
        score: 0.81234,
        relevance: 1,
        parts: { similarity: 0.5, semanticRank: 2, keywordScore: 3.25, keywordRank: 1 },
        composite: { relevance: 1, importance: 0.7, recency: 0.8, confidence: 0.9 },
      },
      { type: 'rule', id: rule, score: 0.8, relevance: 0, parts: null, composite: { maturityWeight: 1.5 } },
      { type: 'episode', id: episode, score: 0.7, relevance: 0, parts: null, composite: null },
      {
        type: 'episode',
        id: other,
        score: 0.2,
        relevance: 0.25,
        parts: { sessionSimilarity: 0.1, asks: true, lentScore: 0.2, lentSimilarity: 0.3, rerankScore: 0.4 },
        composite: null,
      },
    ],
    chosen: [
      { type: 'rule', id: rule, version: 3, score: 0.8, section: 'rules', tokens: 12, lineDigest: 'ab', leftOut: [] },
      {
        type: 'episode',
        id: episode,
        version: 1,
        score: 0.7,
        section: 'episodes',
        tokens: 7,
        lineDigest: null,
        leftOut: [],
      },
    ],
    dropped: [
      { type: 'fact', id: fact, stage: 'budget', reason: '3 tokens were left, and it does not fit into them' },
      { type: 'episode', id: other, stage: 'limit', reason: null },
      { stage: 'limit', count: 9 },
    ],
  };
  const unmatched = {
    similarity: null,
    semanticRank: null,
    keywordScore: 0,
    lentScore: 0,
    keywordRank: null,
    lentSimilarity: null,
    sessionSimilarity: null,
    asks: false,
    rerankScore: null,
    fusionScore: null,
    coverage: null,
    subjectPenalty: null,
    matchScore: null,
    tokenSimilarity: null,
    wholeSimilarity: null,
  };
  const plain = { relevance: 0, importance: 0.5, recency: 1, confidence: 1, maturityWeight: 1, baseline: 0 };

  test('are written without compressing their lists', async () => {
    await migrate(scratch.database);
    const { rows } = await scratch.database.asOwner((client) =>
      client.query(
        `SELECT attname AS name FROM pg_attribute
         WHERE attrelid = 'context_receipts'::regclass AND attstorage = 'e' ORDER BY attnum`,
      ),
    );
    expect(rows).toEqual([{ name: 'candidates' }, { name: 'chosen' }, { name: 'dropped' }]);
  });

  test('that were kept by name say by position what they said', async () => {
    await migrate(scratch.database, migrations.slice(0, place));
    const full = rowOf('context_receipts', 'tenant-a', { ...before, memory_ids: `{${episode},${rule}}` });
    const empty = rowOf('context_receipts', 'tenant-a', { memory_ids: `{${fact}}` });
    await scratch.database.asOwner(async (client) => {
      for (const row of [full, empty]) await insertRow(client, 'context_receipts', row);
    });
    await migrate(scratch.database);
    const receipts = await scratch.database.asOwner(async (client) => {
      const { rows } = await client.query<ContextReceipt>(
        'SELECT id, candidates, chosen, dropped, memory_ids::text[] AS "memoryIds" FROM context_receipts',
      );
      return new Map(rows.map((row) => [row.id, row]));
    });

    const { candidates, chosen, dropped, memoryIds } = receipts.get(String(full['id'])) as ContextReceipt;
    expect(readRanked(candidates, dropped)).toEqual({
      candidates: before.candidates.map(({ type, id, score, relevance, parts, composite }) => {
        const drop = before.dropped.find((one) => one.id === id);
        return {
          memory: { type, id },
          score,
          relevance,
          parts: { match: parts && { ...unmatched, ...parts }, composite: composite && { ...plain, ...composite } },
          droppedBy: drop?.stage ?? null,
          reason: drop?.reason ?? null,
        };
      }),
      droppedUnnamed: before.dropped.slice(2),
    });
    expect(readChosen(chosen, memoryIds)).toEqual(before.chosen.map((choice) => ({ ...choice, conflicts: [] })));
    expect(memoryIds).toEqual([rule, episode]);
    expect(receipts.get(String(empty['id']))).toMatchObject({ candidates: [], chosen: [], memoryIds: [fact] });
  });
});

describe('refusing', () => {
  test('a migration that was edited after it was applied is refused by name', async () => {
    await migrate(scratch.database);
    const edited = migrations.map((migration, index) => (index === 1 ? madeOf(migration.name, 'SELECT 1') : migration));
    await expect(migrate(scratch.database, edited)).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringContaining(`migration ${names[1]} was changed after it was applied`) as string,
    });
  });

  test('a database that a newer version has used is refused by the name of the migration', async () => {
    await migrate(scratch.database, [...migrations, madeOf('29990101000000_from_the_future', 'SELECT 1')]);
    await expect(migrate(scratch.database)).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringContaining('29990101000000_from_the_future') as string,
    });
  });

  test('a migration that another tool began and did not finish is refused, and nothing is applied', async () => {
    await migrate(scratch.database, migrations.slice(0, 1));
    await recordForeign('finished_at', null);
    await expect(migrate(scratch.database)).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringContaining(`migration ${names[1]} was begun by another tool`) as string,
    });
    expect(await recorded()).toEqual(names.slice(0, 2));
  });

  test('a migration that another tool rolled back is applied', async () => {
    await migrate(scratch.database, migrations.slice(0, 1));
    await recordForeign('rolled_back_at', new Date());
    expect(await migrate(scratch.database)).toMatchObject({ applied: names.slice(1) });
  });

  test('a migration that fails leaves no trace and names itself, and those before it stay', async () => {
    const failing = madeOf('29990101000000_failing', 'CREATE TABLE half_done (id integer); SELECT 1 / 0');
    await expect(migrate(scratch.database, [...migrations, failing])).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringMatching(/29990101000000_failing failed and was rolled back: .*division by zero/) as string,
    });
    expect(await recorded()).toEqual(names);
    expect(await scratch.database.asOwner(listTables)).not.toContain('half_done');
    expect(await migrate(scratch.database)).toMatchObject({ applied: [] });
  });
});

/** PGlite only: in a shared cluster the roles are there already, made by whoever migrated first. */
describe.runIf(testEngine === 'pglite')('an owner who is no superuser, as in most hosted databases,', () => {
  test.each(['butler_memory_app', 'butler_memory_maintenance'])('may take the role %s that they made', async (role) => {
    const hosted = await createEmptyDatabase();
    const attempt = hosted.database.asOwner(async (client) => {
      await client.query('CREATE EXTENSION vector');
      await client.query('CREATE ROLE hosted_owner NOSUPERUSER CREATEROLE; GRANT ALL ON SCHEMA public TO hosted_owner');
      await client.query('SET SESSION AUTHORIZATION hosted_owner');
      for (const { sql } of migrations) await client.query(sql);
      return client.query<{ role: string }>("SELECT set_config('role', $1, false) AS role", [role]);
    });
    await expect(attempt).resolves.toMatchObject({ rows: [{ role }] });
    await hosted.drop();
  });
});

describe('agreement with Prisma', () => {
  test('Prisma finds nothing to apply and nothing edited where we have migrated', async () => {
    await migrate(scratch.database);
    await scratch.database.asOwner(async (client) => {
      expect(await diagnoseWithPrisma(client, migrations)).toEqual({
        hasMigrationsTable: true,
        editedMigrationNames: [],
        failedMigrationNames: [],
        history: null,
      });
      expect(await applyWithPrisma(client, migrations)).toEqual([]);
    });
  });

  test('Prisma sees the same migrations as pending and as edited as we do', async () => {
    await migrate(scratch.database, migrations.slice(0, 1));
    const edited = [madeOf(names[0] ?? '', 'SELECT 1'), ...migrations.slice(1)];
    await scratch.database.asOwner(async (client) => {
      expect(await diagnoseWithPrisma(client, edited)).toMatchObject({
        editedMigrationNames: names.slice(0, 1),
        history: { diagnostic: 'databaseIsBehind', unappliedMigrationNames: names.slice(1) },
      });
    });
  });

  test('we find nothing to apply where Prisma has migrated', async () => {
    await scratch.database.asOwner(async (client) => {
      expect(await applyWithPrisma(client, migrations)).toEqual(names);
    });
    expect(await migrate(scratch.database)).toEqual({ applied: [], total: names.length });
  });
});

function madeOf(name: string, sql: string): Migration {
  return { name, sql, checksum: 'f'.repeat(64) };
}

async function recorded(): Promise<string[]> {
  const { rows } = await scratch.database.asOwner((client) =>
    client.query<{ name: string }>('SELECT migration_name AS name FROM _prisma_migrations ORDER BY started_at, name'),
  );
  return rows.map(({ name }) => name);
}

async function recordForeign(column: 'finished_at' | 'rolled_back_at', value: Date | null): Promise<void> {
  await scratch.database.asOwner((client) =>
    client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, ${column}) VALUES ('foreign', '', $1, $2)`,
      [names[1], value],
    ),
  );
}

async function countRows(): Promise<Record<string, number>> {
  return scratch.database.asOwner(async (client) => {
    const counts: Record<string, number> = {};
    for (const table of await listTables(client)) {
      const { rows } = await client.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`);
      counts[table] = rows[0]?.count ?? 0;
    }
    return counts;
  });
}
