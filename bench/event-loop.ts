import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import pgvector from 'pgvector';
import { createApp } from '../src/http/app.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory, type MemoryCore } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { storeEpisode } from '../src/memory/episodes/episodes.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';

const textCount = 1000;
const writers = 8;

export const eventLoop: Benchmark = {
  question: `How long is the event loop held up while ${textCount} texts are embedded, stored and searched on PGlite? (p99 must stay under 50 ms)`,
  measure: async () => {
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn' };
    const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
    const core = await createMemory({ config, logger: createLogger(config) });
    try {
      await core.embedder.load();
      return await measureDelays(core);
    } finally {
      await core.close();
      await rm(home, { recursive: true, force: true });
    }
  },
};

interface Delay {
  p50: number;
  p99: number;
  max: number;
  seconds: number;
}

async function measureDelays(core: MemoryCore): Promise<Figure[]> {
  const context = createApp(core).createContext().memory;
  await storeTexts(context, 20);
  const idle = await delayDuring(() => pause(3000));
  const storing = await delayDuring(() => storeTexts(context, textCount));
  const searching = await delayDuring(() => searchTexts(context, textCount));
  return [
    ...figuresOf('idle', idle, idle),
    ...figuresOf('embedding and storing', storing, idle),
    ...figuresOf('embedding and searching', searching, idle),
  ];
}

function figuresOf(what: string, delay: Delay, idle: Delay): Figure[] {
  return [
    { what: `${what}: p50`, value: milliseconds(delay.p50) },
    { what: `${what}: p99 (of idle)`, value: `${milliseconds(delay.p99)} (${ratio(delay.p99, idle.p99)})` },
    { what: `${what}: longest`, value: milliseconds(delay.max) },
    { what: `${what}: took`, value: `${delay.seconds.toFixed(1)} s` },
  ];
}

async function delayDuring(work: () => Promise<unknown>): Promise<Delay> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  const startedAt = performance.now();
  histogram.enable();
  await work();
  histogram.disable();
  const toMs = (nanoseconds: number): number => nanoseconds / 1e6;
  return {
    p50: toMs(histogram.percentile(50)),
    p99: toMs(histogram.percentile(99)),
    max: toMs(histogram.max),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

async function storeTexts(context: MemoryContext, count: number): Promise<void> {
  await inParallel(count, async (index) => {
    await storeEpisode(context, { content: sentence(index), butler: 'bench' });
  });
}

/** The bare statement: one query vector, its nearest episodes, through the tenant boundary. */
async function searchTexts(context: MemoryContext, count: number): Promise<void> {
  await inParallel(count, async (index) => {
    const vector = pgvector.toSql(
      Array.from((await context.embedder.embedQuery(`question about ${sentence(index)}`)).vector),
    );
    await context.db.transaction(
      (transaction) =>
        transaction.$queryRaw`SELECT id, content FROM episodes ORDER BY embedding <=> ${vector}::vector LIMIT 20`,
    );
  });
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: writers }, worker));
}

const people = ['Anna', 'Ben', 'Carla', 'Deniz', 'Emil', 'Fatima', 'Greta', 'Hugo'];
const acts = [
  'asked to move the dentist',
  'logged a weight',
  'planned a trip to Lisbon',
  'cancelled the gym',
  'ordered flowers',
];
const reasons = [
  'because of rain',
  'before the holidays',
  'after a long day at work',
  'for the birthday',
  'on short notice',
];

/** Different texts of the length that episodes have, the same in every run. */
function sentence(index: number): string {
  const pick = (list: string[], step: number): string => list[Math.floor(index / step) % list.length] ?? '';
  return `${pick(people, 1)} ${pick(acts, 3)} ${pick(reasons, 7)}; the butler noted it under number ${index} and asked whether anything else should change that week.`;
}
