import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../src/http/app.ts';
import { createToken } from '../src/auth/tokens.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';
import { withOwnDatabase } from './own-database.ts';
import { withOwnServer } from './own-server.ts';
import { createFiller } from './rows.ts';
import { question } from './texts.ts';

const rows = 2000;
const allowedPerSecond = 10;
const loudPerSecond = 10 * allowedPerSecond;
const quietPerSecond = 5;
const warmUpSeconds = 3;
const seconds = 15;
/** Alone and beside the other in turn, so that whatever else the machine does meets both. */
const rounds = 2;

const limits = `[butler.limits]\nrequests_per_minute = ${allowedPerSecond * 60}\nburst = ${allowedPerSecond}\n`;

export const fairness: Benchmark = {
  question:
    'How long do the searches of a butler take while another sends ten times what its rate allows (100 a second where 10 are allowed), as a multiple of what they take alone? (p95 at most 2×; through the server over GraphQL with a token each; 5 searches a second over 2,000 rows, measured from when each was to arrive; on PostgreSQL with TEST_DATABASE_URL, else on the embedded database)',
  measure: async () => {
    const url = process.env['TEST_DATABASE_URL'];
    return url === undefined ? measureAt({}) : withOwnDatabase(url, (own) => measureAt({ DATABASE_URL: own }));
  },
};

interface Tokens {
  quiet: string;
  loud: string;
}

async function measureAt(given: Record<string, string>): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', BUTLER_MEMORY_AUTH: 'required', ...given };
  try {
    await writeFile(join(home, 'butler.toml'), limits);
    const tokens = await prepare(home, env);
    return await withOwnServer(home, env, (address) => compare(address, tokens));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function prepare(home: string, env: Record<string, string>): Promise<Tokens> {
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config) });
  try {
    await core.embedder.load();
    const admin = { tenantId: 'default', butler: null, role: 'admin' as const };
    const context = createApp(core).createContext({}, admin).memory;
    await (await createFiller(context)).fill(0, rows);
    const issue = async (butler: string): Promise<string> =>
      (await createToken(context, { name: butler, role: 'butler', butler })).token;
    return { quiet: await issue('quiet'), loud: await issue('loud') };
  } finally {
    await core.close();
  }
}

async function compare(address: string, tokens: Tokens): Promise<Figure[]> {
  const [alone, beside, loud]: [Load, Load, Load] = [newLoad(), newLoad(), newLoad()];
  await send(address, tokens.quiet, quietPerSecond, warmUpSeconds, newLoad());
  for (let round = 0; round < rounds; round++) {
    await send(address, tokens.quiet, quietPerSecond, seconds, alone);
    await Promise.all([
      send(address, tokens.quiet, quietPerSecond, seconds, beside),
      send(address, tokens.loud, loudPerSecond, seconds, loud),
    ]);
  }
  const busy = (loadavg()[0] ?? 0).toFixed(1);
  return [
    { what: 'machine: cores, processes that wanted one in the last minute', value: `${cpus().length}, ${busy}` },
    { what: 'searches of a butler alone', value: describe(alone) },
    { what: 'searches of a butler beside the other', value: describe(beside) },
    { what: 'p95 beside the other (of alone)', value: ratio(quantile(beside, 0.95), quantile(alone, 0.95)) },
    { what: 'what the other sent', value: describe(loud) },
  ];
}

interface Load {
  times: number[];
  answers: Map<string, number>;
}

function newLoad(): Load {
  return { times: [], answers: new Map() };
}

let asked = 0;

/** Each request at its time, whether those before it are done or not. */
async function send(address: string, token: string, perSecond: number, forSeconds: number, load: Load): Promise<void> {
  const startedAt = performance.now();
  const pending: Promise<void>[] = [];
  for (let number = 0; number < perSecond * forSeconds; number++) {
    const arrival = startedAt + (number * 1000) / perSecond;
    const waitMs = arrival - performance.now();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    pending.push(searchInto(load, arrival, address, token));
  }
  await Promise.all(pending);
}

async function searchInto(load: Load, arrival: number, address: string, token: string): Promise<void> {
  const answer = await search(address, token).catch(String);
  load.times.push(performance.now() - arrival);
  load.answers.set(answer, (load.answers.get(answer) ?? 0) + 1);
}

/** The status, or what went wrong. */
async function search(address: string, token: string): Promise<string> {
  const query =
    'query ($input: SearchInput!) { search(input: $input, countReference: true) { results { score memory { content } } } }';
  const response = await fetch(`${address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: { input: { query: question(asked++) } } }),
  });
  const { errors } = (await response.json()) as { errors?: { message: string }[] };
  return errors?.[0]?.message ?? String(response.status);
}

function describe(load: Load): string {
  const counts = [...load.answers].map(([answer, count]) => `${count} answered ${answer}`);
  return `median ${milliseconds(quantile(load, 0.5))}, p95 ${milliseconds(quantile(load, 0.95))}; ${counts.join(', ')}`;
}

function quantile({ times }: Load, share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
