import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pgvector from 'pgvector';
import { Client } from 'pg';
import { createApp } from '../src/http/app.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory, type MemoryCore } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { searchMemories } from '../src/retrieval/search.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';
import { fillFleet, fleetRows, smallTenant, smallTenants, tenantRows } from './fleet-rows.ts';
import { withOwnPostgres, type OwnPostgres } from './own-postgres.ts';
import { question } from './texts.ts';

const warmUpRounds = 60;
const measuredRounds = 100;
/** Small tenants that are searched in turn. */
const searchedTenants = 20;
const recallQueries = 30;
const coldSearches = 8;
/** Each search comes so much later than the one before it that statistics of small tenants are counted anew, as they are for most searches. */
const betweenSearchesMs = 60_000;

const databases = { alone: 'fleet_alone', fleet: 'fleet' };

export const fleet: Benchmark = {
  question: `How long does a search of a tenant with ${format(tenantRows.small)} episodes take in one PostgreSQL with ${smallTenants} such tenants and two larger ones (${format(fleetRows)} rows), as a multiple of what it takes alone in a database? (p95 at most 2× when the tables are in memory, and no time-out after a restart of the database with nothing in memory; semantic recall@10 against a comparison with each row; with a server of its own, whose filled databases BENCH_FLEET_DIRECTORY keeps for the next run: filling them takes some 15 minutes)`,
  measure: () => withOwnPostgres(process.env['BENCH_FLEET_DIRECTORY'], measureAt),
};

async function measureAt(postgres: OwnPostgres): Promise<Figure[]> {
  await prepare(postgres, databases.alone);
  await prepare(postgres, databases.fleet);
  const warm = await withCore(postgres, databases.alone, (alone) =>
    withCore(postgres, databases.fleet, async (crowded) => [
      ...(await measureWarm(alone, crowded)),
      ...(await measureRecall(alone, 'alone', [smallTenant(0)])),
      ...(await measureRecall(crowded, 'in the fleet', [1, 2, 3, 4, 5].map(smallTenant))),
      ...(await measureRecall(crowded, `in the fleet, ${format(tenantRows.medium)} rows`, ['medium'])),
      ...(await measureRecall(crowded, `in the fleet, ${format(tenantRows.large)} rows`, ['large'])),
    ]),
  );
  await postgres.restartCold();
  return [...warm, ...(await withCore(postgres, databases.fleet, measureCold))];
}

/** Fills the database, unless an earlier run has. */
async function prepare(postgres: OwnPostgres, database: string): Promise<void> {
  const client = new Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rowCount !== 0) return;
    // Renamed at the end, so that a database of this name is a full one.
    const unfinished = `${database}_unfinished`;
    await client.query(`DROP DATABASE IF EXISTS ${unfinished}`);
    await client.query(`CREATE DATABASE ${unfinished}`);
    await withCore(postgres, unfinished, (core) => fillFleet(contextOf(core, 'first'), database === databases.alone));
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${database}`);
  } finally {
    await client.end();
  }
}

async function withCore<T>(
  postgres: OwnPostgres,
  database: string,
  work: (core: MemoryCore) => Promise<T>,
): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', DATABASE_URL: postgres.url(database) };
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config) });
  try {
    await core.embedder.load();
    return await work(core);
  } finally {
    await core.close();
    await rm(home, { recursive: true, force: true });
  }
}

let asked = 0;

function contextOf(core: MemoryCore, tenantId: string): MemoryContext {
  const now = new Date(Date.now() + asked * betweenSearchesMs);
  const { memory } = createApp(core).createContext({}, { tenantId, butler: null, role: 'admin' });
  return { ...memory, now: () => now };
}

/** The time that one search takes, each with another question. */
async function timeSearch(core: MemoryCore, tenantId: string): Promise<number> {
  const query = question(asked++);
  const context = contextOf(core, tenantId);
  // Embedding takes as long wherever the memories are: the query cache has it already.
  await core.embedder.embedQuery(query);
  const startedAt = performance.now();
  await searchMemories(context, { query });
  return performance.now() - startedAt;
}

/** One of each in turn, so that whatever else the machine does meets all of them alike. */
async function measureWarm(alone: MemoryCore, crowded: MemoryCore): Promise<Figure[]> {
  await readTables(crowded);
  const times = { alone: [] as number[], fleet: [] as number[], medium: [] as number[], large: [] as number[] };
  for (let round = -warmUpRounds; round < measuredRounds; round++) {
    const taken = {
      alone: await timeSearch(alone, smallTenant(0)),
      fleet: await timeSearch(crowded, smallTenant((round + warmUpRounds) % searchedTenants)),
      medium: await timeSearch(crowded, 'medium'),
      large: await timeSearch(crowded, 'large'),
    };
    if (round < 0) continue;
    for (const name of ['alone', 'fleet', 'medium', 'large'] as const) times[name].push(taken[name]);
  }
  const describe = (list: readonly number[]): string => {
    const [median, p95] = [quantile(list, 0.5), quantile(list, 0.95)];
    const [bareMedian, bareP95] = [quantile(times.alone, 0.5), quantile(times.alone, 0.95)];
    return `median ${milliseconds(median)} (${ratio(median, bareMedian)}), p95 ${milliseconds(p95)} (${ratio(p95, bareP95)})`;
  };
  return [
    { what: `warm: search alone, ${format(tenantRows.small)} rows (of alone)`, value: describe(times.alone) },
    { what: `warm: search in the fleet, ${format(tenantRows.small)} rows (of alone)`, value: describe(times.fleet) },
    { what: `warm: search in the fleet, ${format(tenantRows.medium)} rows (of alone)`, value: describe(times.medium) },
    { what: `warm: search in the fleet, ${format(tenantRows.large)} rows (of alone)`, value: describe(times.large) },
  ];
}

async function readTables({ db }: MemoryCore): Promise<void> {
  await db.asOwner(async (client) => {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
    await client.query(
      `SELECT pg_prewarm(c.oid::regclass, 'read') FROM pg_class t
       JOIN pg_class c ON c.oid IN (t.oid, t.reltoastrelid) OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN (t.oid, t.reltoastrelid))
       WHERE t.oid = 'episodes'::regclass`,
    );
  });
}

/** Of the ten nearest episodes, the share that a semantic search brings. */
async function measureRecall(core: MemoryCore, where: string, tenants: readonly string[]): Promise<Figure[]> {
  let [found, wanted] = [0, 0];
  for (let number = 0; number < recallQueries; number++) {
    const tenantId = tenants[number % tenants.length] ?? '';
    const query = question(1_000_000 + number);
    const nearest = await nearestOf(core, tenantId, query);
    const { results } = await searchMemories(contextOf(core, tenantId), { query, mode: 'semantic', limit: 10 });
    const ids = results.map(({ memory }) => memory.row.id);
    found += nearest.filter((id) => ids.includes(id)).length;
    wanted += nearest.length;
  }
  return [{ what: `semantic recall@10 ${where}`, value: (found / wanted).toFixed(2) }];
}

async function nearestOf({ db, embedder }: MemoryCore, tenantId: string, query: string): Promise<string[]> {
  const vector = pgvector.toSql(Array.from((await embedder.embedQuery(query)).vector)) as string;
  return db.asOwner(async (client) => {
    // An expression that no index has.
    const { rows } = await client.query<{ id: string }>(
      'SELECT id::text FROM episodes WHERE tenant_id = $1 ORDER BY (embedding <=> $2::vector) + 0 LIMIT 10',
      [tenantId, vector],
    );
    return rows.map(({ id }) => id);
  });
}

async function measureCold(core: MemoryCore): Promise<Figure[]> {
  const times: number[] = [];
  const failures: string[] = [];
  for (let number = 0; number < coldSearches; number++) {
    // Of a tenant that no search has been made of.
    const time = await timeSearch(core, smallTenant(smallTenants - 1 - number)).catch(String);
    if (typeof time === 'number') times.push(time);
    else failures.push(time);
  }
  return [
    {
      what: `cold: searches of ${coldSearches} that failed`,
      value: [failures.length, ...new Set(failures)].join(', '),
    },
    { what: 'cold: first search', value: milliseconds(times[0] ?? Number.NaN) },
    {
      what: 'cold: searches that did not fail',
      value: `median ${milliseconds(quantile(times, 0.5))}, longest ${milliseconds(Math.max(...times))}`,
    },
  ];
}

function quantile(list: readonly number[], share: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function format(count: number): string {
  return count.toLocaleString('en');
}
