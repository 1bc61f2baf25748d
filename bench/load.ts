import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createApp } from '../src/http/app.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import { milliseconds, type Benchmark, type Figure } from './benchmark.ts';
import { ask, context, episode, search, type Operation } from './operations.ts';
import { withOwnDatabase } from './own-database.ts';
import { withOwnServer } from './own-server.ts';
import { createFiller } from './rows.ts';
import { question } from './texts.ts';

const rows = 10_000;
const perSecond = 30;
const warmUpSeconds = 10;
const seconds = Number(process.env['BENCH_LOAD_SECONDS'] ?? 20);

export const load: Benchmark = {
  question:
    'How long do 30 contexts, and then 30 searches, a second take while 30 episodes a second are stored, through the server over GraphQL on PostgreSQL? (p95 under 250 ms for contexts and 350 ms for searches on two cores; each arrives at its time whether those before it are done or not, and is measured from then; TEST_DATABASE_URL)',
  measure: async () => {
    const url = process.env['TEST_DATABASE_URL'];
    if (url === undefined) return [{ what: 'not measured', value: 'TEST_DATABASE_URL is not set' }];
    return withOwnDatabase(url, measureAt);
  },
};

async function measureAt(url: string): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', DATABASE_URL: url };
  try {
    const before = [...(await fillAndTimeEmbedding(env)), await timeSelect(url)];
    return await withOwnServer(home, env, async (address) => {
      const contexts = await runLoad(address, { context, 'episode beside contexts': episode });
      const searches = await runLoad(address, { search, 'episode beside searches': episode });
      return [...before, ...contexts, ...searches];
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** What this machine makes of the smallest parts, to read the other figures by. */
async function fillAndTimeEmbedding(env: Record<string, string>): Promise<Figure[]> {
  const home = env['BUTLER_MEMORY_HOME'] ?? '';
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config) });
  try {
    await core.embedder.load();
    const filler = await createFiller(createApp(core).createContext().memory);
    await filler.fill(0, rows);
    const embedding = await timesOf(50, (number) => core.embedder.embedQuery(`bare ${question(number)}`));
    const busy = loadavg()[0] ?? 0;
    return [
      {
        what: 'machine: cores, processes that wanted one in the last minute',
        value: `${cpus().length}, ${busy.toFixed(1)}`,
      },
      { what: 'bare: one embedding', value: percentiles(embedding) },
    ];
  } finally {
    await core.close();
  }
}

async function timeSelect(url: string): Promise<Figure> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const times = await timesOf(200, () => client.query('SELECT 1'));
  await client.end();
  return { what: 'bare: SELECT 1', value: percentiles(times) };
}

async function timesOf(count: number, work: (number: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const startedAt = performance.now();
    await work(number);
    times.push(performance.now() - startedAt);
  }
  return times;
}

let asked = 0;

/** Every operation at the same rate, one after the other in turn. Times are from when a request was to arrive. */
async function runLoad(address: string, operations: Record<string, Operation>): Promise<Figure[]> {
  const times = new Map(Object.keys(operations).map((name): [string, number[]] => [name, []]));
  const failures = new Map<string, number>();
  const kinds = Object.entries(operations);
  const stepMs = 1000 / (perSecond * kinds.length);
  const total = (warmUpSeconds + seconds) * perSecond * kinds.length;
  const startedAt = performance.now();
  const pending: Promise<void>[] = [];
  for (let number = 0; number < total; number++) {
    const [name, operation] = kinds[number % kinds.length] as [string, Operation];
    const arrival = startedAt + number * stepMs;
    await until(arrival);
    const isMeasured = number * stepMs >= warmUpSeconds * 1000;
    const measure = async (): Promise<void> => {
      const failure = await ask(address, operation, asked++);
      // A refusal is quick, and no answer.
      if (failure !== null) {
        const what = isMeasured ? failure : `${failure}, while it warmed up`;
        failures.set(what, (failures.get(what) ?? 0) + 1);
      } else if (isMeasured) times.get(name)?.push(performance.now() - arrival);
    };
    pending.push(measure());
  }
  await Promise.all(pending);
  const failed = [...failures].map(([what, count]) => ({ what: `failed: ${what}`, value: String(count) }));
  return [
    ...[...times].map(([name, list]) => ({ what: `${perSecond} a second: ${name}`, value: percentiles(list) })),
    ...failed,
  ];
}

/** A timer may be late by a millisecond or two, which then counts as waiting: no request is left out for it. */
async function until(moment: number): Promise<void> {
  const waitMs = moment - performance.now();
  if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

function percentiles(list: readonly number[]): string {
  const sorted = list.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    milliseconds(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN);
  return `median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1)}`;
}
