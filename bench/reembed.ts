import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory, embedderOptions, type MemoryCore } from '../src/create-memory.ts';
import { createEmbedder } from '../src/embedding/create-embedder.ts';
import type { Embedder } from '../src/embedding/embedder.ts';
import { sweepEmbeddings } from '../src/lifecycle/reembed.ts';
import { createLogger } from '../src/shared/logger.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { ingestEpisodes } from '../src/memory/episodes/episodes.ts';
import { newRequestContext } from '../src/shared/request-context.ts';
import { searchMemories } from '../src/retrieval/search.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';
import { withOwnDatabase } from './own-database.ts';
import { question, sentence } from './texts.ts';

const rowCount = 400;
const searchRounds = 30;
const secondModel = { model: 'Xenova/gte-small', dtype: 'fp32', dimensions: 384 };
const directory = process.env['BENCH_MODELS_DIRECTORY'];

export const reembed: Benchmark = {
  question: `How fast are ${rowCount} memories brought from MiniLM (q8) to gte-small (fp32), as a multiple of the bare embedding calls in the same run? (BENCH_MODELS_DIRECTORY names the directory with Xenova/gte-small in it; PostgreSQL with TEST_DATABASE_URL)`,
  measure: async () => {
    if (directory === undefined) {
      return [{ what: 'skipped', value: 'BENCH_MODELS_DIRECTORY is not set: there is no second model' }];
    }
    const figures = await measureEngine('PGlite', {});
    const url = process.env['TEST_DATABASE_URL'];
    if (url === undefined) return figures;
    return [...figures, ...(await withOwnDatabase(url, (own) => measureEngine('PostgreSQL', { DATABASE_URL: own })))];
  },
};

async function measureEngine(engine: string, given: Record<string, string>): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', ...given };
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config) });
  const options = { ...embedderOptions(config, core.logger), ...secondModel, ownModelsDirectory: directory };
  const second = await createEmbedder(options);
  try {
    await second.load();
    return await measureSweep(engine, core, second);
  } finally {
    await second.close();
    await core.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function measureSweep(engine: string, core: MemoryCore, second: Embedder): Promise<Figure[]> {
  const { config, logger, now, vault, caches } = core;
  const db = core.db.forTenant('default');
  const principal = { tenantId: 'default', butler: null, role: 'admin' } as const;
  const shared = { db, config, logger, now, vault, caches, principal };
  const context = { ...shared, embedder: second, requestContext: newRequestContext() };
  const texts = Array.from({ length: rowCount }, (_, index) => sentence(index));
  await store({ ...context, embedder: core.embedder }, texts);
  // Other texts of the same kind, half before and half after, so that a machine that slows down slows down both.
  const bareBefore = await timed(() => second.embed(texts.slice(0, rowCount / 2)));
  const swept = await timed(() => sweepEmbeddings(context, { dryRun: false }));
  const bareAfter = await timed(() => second.embed(texts.slice(rowCount / 2)));
  const bare = bareBefore + bareAfter;
  const calm = await measureSearches(context);
  const busy = await measureWhileSwept({ ...context, embedder: core.embedder }, { ...context, embedder: second });
  return [
    { what: `${engine}: bare embedding`, value: `${(rowCount / bare).toFixed(0)} texts/s` },
    {
      what: `${engine}: re-embedding (time, of bare embedding)`,
      value: `${(rowCount / swept).toFixed(0)} rows/s (${ratio(swept, bare)})`,
    },
    { what: `${engine}: search, p50 when nothing else goes on`, value: milliseconds(median(calm)) },
    {
      what: `${engine}: search, p50 while rows are re-embedded (of the former)`,
      value: `${milliseconds(median(busy))} (${ratio(median(busy), median(calm))})`,
    },
  ];
}

async function store(context: MemoryContext, texts: readonly string[]): Promise<void> {
  for (let start = 0; start < texts.length; start += 250) {
    const episodes = texts.slice(start, start + 250).map((content) => ({ butler: 'bench', content }));
    await ingestEpisodes(context, episodes);
  }
}

/** Back to the first model, with searches by the one that is active all the while. */
async function measureWhileSwept(sweeping: MemoryContext, searching: MemoryContext): Promise<number[]> {
  const stop = new AbortController();
  const options = { dryRun: false, signal: stop.signal, configuredAt: new Date() };
  const sweep = sweepEmbeddings(sweeping, options);
  const times = await measureSearches(searching);
  stop.abort();
  await sweep;
  return times;
}

async function measureSearches(context: MemoryContext): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < searchRounds; round += 1) {
    times.push((await timed(() => searchMemories(context, { query: question(round + asked++) }))) * 1000);
  }
  return times;
}

/** So that no query is one of before, which the cache would know. */
let asked = 0;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** In seconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}
