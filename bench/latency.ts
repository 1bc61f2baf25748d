import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pgvector from 'pgvector';
import { createApp } from '../src/http/app.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { serveRequests } from '../src/http/server.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';
import { ask, context as contextOperation, recall, search, type Operation } from './operations.ts';
import { withOwnDatabase } from './own-database.ts';
import { createFiller } from './rows.ts';
import { question } from './texts.ts';

/** A server answers for days: its first answers, whose code is compiled as they are made, are not what is asked. */
const warmUpRounds = 100;
const rounds = 40;
const pauseMs = 30;
const isLarge = process.env['BENCH_LARGE'] === '1';

export const latency: Benchmark = {
  question:
    'How long do search, recall and context take over HTTP and GraphQL, as a multiple of the bare cost in the same run: one embedding, the nearest rows and a full-text match? (1.6× at most at the median, p95 at 1,000,000 rows at most 3× of that at 10,000; PostgreSQL with TEST_DATABASE_URL, 100,000 rows and more with BENCH_LARGE=1; BENCH_FILLED_URLS names databases that dist/bench/fill.js has filled, to be measured instead)',
  measure: async () => {
    const figures = await measureEngine('PGlite', {}, [1000, 10_000, ...(isLarge ? [100_000] : [])]);
    return [...figures, ...(await measurePostgres())];
  },
};

async function measurePostgres(): Promise<Figure[]> {
  const filled = process.env['BENCH_FILLED_URLS'];
  const url = process.env['TEST_DATABASE_URL'];
  if (filled === undefined && url !== undefined) {
    const sizes = [1000, 10_000, ...(isLarge ? [100_000, 1_000_000] : [])];
    return withOwnDatabase(url, (own) => measureEngine('PostgreSQL', { DATABASE_URL: own }, sizes));
  }
  const figures: Figure[] = [];
  for (const given of filled?.split(',') ?? [])
    figures.push(...(await measureEngine('PostgreSQL', { DATABASE_URL: given }, [])));
  return figures;
}

async function measureEngine(engine: string, given: Record<string, string>, sizes: number[]): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', ...given };
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config) });
  // In this process, as the embedded database serves only one, and the bare statements go to it too.
  const app = createApp(core);
  const { http } = serveRequests(app);
  try {
    await core.embedder.load();
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const context = app.createContext().memory;
    if (sizes.length === 0) {
      await readTables(context);
      return figuresOf(`${engine}, ${await countRows(context)} rows`, await measureRounds(context, address));
    }
    const filler = await createFiller(context);
    const figures: Figure[] = [];
    let filled = 0;
    for (const rows of sizes) {
      await filler.fill(filled, rows);
      filled = rows;
      const times = await measureRounds(context, address);
      figures.push(...figuresOf(`${engine}, ${rows.toLocaleString('en')} rows`, times));
    }
    return figures;
  } finally {
    http.close();
    await app.stop();
    await core.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** So that those that were filled yesterday are in memory as those that were just filled: tables and their indexes. */
async function readTables({ db }: MemoryContext): Promise<void> {
  await db.database.asOwner(async (client) => {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
    await client.query(
      `SELECT pg_prewarm(c.oid::regclass) FROM pg_class t
       JOIN pg_class c ON c.oid = t.oid OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = t.oid)
       WHERE t.oid IN ('episodes'::regclass, 'facts'::regclass, 'rules'::regclass)`,
    );
  });
}

/** Without the one that registers the model. */
async function countRows({ db }: MemoryContext): Promise<string> {
  const { client } = db;
  const counts = await Promise.all([client.episode.count(), client.fact.count(), client.rule.count()]);
  return (counts.reduce((total, count) => total + count, 0) - 1).toLocaleString('en');
}

type Work = (context: MemoryContext, address: string, number: number) => Promise<void>;

const works: Record<string, Work> = {
  bare: (context, _address, number) => askBare(context, question(number)),
  search: through(search),
  recall: through(recall),
  context: through(contextOperation),
};

function through(operation: Operation): Work {
  return async (_context, address, number) => {
    const failure = await ask(address, operation, number);
    if (failure !== null) throw new Error(failure);
  };
}

let asked = 0;

/**
 * One of each in turn, so that whatever else the machine does meets all of them alike. What is written after an answer is
 * waited for, and not measured: it would count against the next one.
 */
async function measureRounds(context: MemoryContext, address: string): Promise<Record<string, number[]>> {
  const times = Object.fromEntries(Object.keys(works).map((name): [string, number[]] => [name, []]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [name, work] of Object.entries(works)) {
      const number = asked++;
      const startedAt = performance.now();
      await work(context, address, number);
      if (round >= 0) times[name]?.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return times;
}

/**
 * The least that any hybrid search of three tables costs: no filter, no score, no memory loaded. An index looks at 40
 * rows unless told otherwise, and would bring no more than those.
 */
async function askBare({ db, embedder, config }: MemoryContext, text: string): Promise<void> {
  const vector = pgvector.toSql(Array.from((await embedder.embedQuery(text)).vector)) as string;
  const most = config.memory.retrieval.candidates;
  await db.transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT set_config('hnsw.ef_search', ${String(most)}, true)`;
    await transaction.$queryRaw`
      (SELECT id FROM episodes ORDER BY embedding <=> ${vector}::vector LIMIT ${most})
      UNION ALL (SELECT id FROM facts ORDER BY embedding <=> ${vector}::vector LIMIT ${most})
      UNION ALL (SELECT id FROM rules ORDER BY embedding <=> ${vector}::vector LIMIT ${most})`;
    await transaction.$queryRaw`
      WITH wanted AS MATERIALIZED (
        SELECT replace(plainto_tsquery('english', ${text})::text, '&', '|')::tsquery AS words)
      (SELECT id FROM episodes, wanted WHERE search_vector @@ words ORDER BY ts_rank(search_vector, words) DESC LIMIT ${most})
      UNION ALL (SELECT id FROM facts, wanted WHERE search_vector @@ words ORDER BY ts_rank(search_vector, words) DESC LIMIT ${most})
      UNION ALL (SELECT id FROM rules, wanted WHERE search_vector @@ words ORDER BY ts_rank(search_vector, words) DESC LIMIT ${most})`;
  });
}

function figuresOf(where: string, times: Record<string, number[]>): Figure[] {
  const bare = quantile(times['bare'] ?? [], 0.5);
  return Object.entries(times).map(([name, list]) => {
    const [median, p95] = [quantile(list, 0.5), quantile(list, 0.95)];
    const value = `${milliseconds(median)} (${ratio(median, bare)}), p95 ${milliseconds(p95)}`;
    return { what: `${where}: ${name}, median (of bare)`, value };
  });
}

function quantile(list: readonly number[], share: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
