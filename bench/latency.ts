import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import pgvector from 'pgvector';
import { createApp } from '../src/app.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory } from '../src/create-memory.ts';
import { createLogger } from '../src/logger.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { storeEpisode } from '../src/memory/episodes.ts';
import { buildContext } from '../src/retrieval/context.ts';
import { recallMemories } from '../src/retrieval/recall.ts';
import { searchMemories } from '../src/retrieval/search.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';

const warmUpRounds = 5;
const rounds = 40;
const isLarge = process.env['BENCH_LARGE'] === '1';

export const latency: Benchmark = {
  question:
    'How long do search, recall and context take, as a multiple of the bare cost in the same run: one embedding, the nearest rows and a full-text match? (1.6× at most at the median; PostgreSQL with TEST_DATABASE_URL, 100,000 rows with BENCH_LARGE=1)',
  measure: async () => {
    const figures = await measureEngine('PGlite', {}, [1000, 10_000]);
    const url = process.env['TEST_DATABASE_URL'];
    if (url === undefined) return figures;
    return [...figures, ...(await withDatabase(url, (own) => measurePostgres(own)))];
  },
};

async function measurePostgres(url: string): Promise<Figure[]> {
  const sizes = [1000, 10_000, ...(isLarge ? [100_000] : [])];
  return measureEngine('PostgreSQL', { DATABASE_URL: url }, sizes);
}

async function withDatabase<T>(url: string, work: (own: string) => Promise<T>): Promise<T> {
  const name = `butler_bench_${randomBytes(4).toString('hex')}`;
  const own = new URL(url);
  own.pathname = `/${name}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
    return await work(own.toString());
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}

async function measureEngine(engine: string, given: Record<string, string>, sizes: number[]): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', ...given };
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config) });
  try {
    await core.embedder.load();
    const context = createApp(core).createContext().memory;
    const seeder = await createSeeder(context);
    const figures: Figure[] = [];
    let filled = 0;
    for (const rows of sizes) {
      await seeder.fill(filled, rows);
      filled = rows;
      figures.push(...figuresOf(`${engine}, ${rows.toLocaleString('en')} rows`, await measureRounds(context)));
    }
    return figures;
  } finally {
    await core.close();
    await rm(home, { recursive: true, force: true });
  }
}

const works: Record<string, (context: MemoryContext, text: string) => Promise<unknown>> = {
  bare: askBare,
  search: (context, query) => searchMemories(context, { query }),
  recall: (context, topic) => recallMemories(context, { topic }),
  context: (context, triggerPrompt) => buildContext(context, { triggerPrompt, butler: 'bench' }),
};

let asked = 0;

/** One of each in turn, so that whatever else the machine does meets all of them alike. */
async function measureRounds(context: MemoryContext): Promise<Record<string, number[]>> {
  const times = Object.fromEntries(Object.keys(works).map((name): [string, number[]] => [name, []]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [name, work] of Object.entries(works)) {
      const text = question(asked++);
      const startedAt = performance.now();
      await work(context, text);
      if (round >= 0) times[name]?.push(performance.now() - startedAt);
    }
  }
  return times;
}

/**
 * The least that any hybrid search of three tables costs: no filter, no score, no memory loaded. An index looks at 40
 * rows unless told otherwise, and would bring no more than those.
 */
async function askBare({ db, embedder, principal, config }: MemoryContext, text: string): Promise<void> {
  const vector = pgvector.toSql(Array.from(await embedder.embedQuery(text))) as string;
  const most = config.memory.retrieval.candidates;
  await db.transaction(principal.tenantId, async (transaction) => {
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

const chunkSize = 500;
const patternCount = 200;
const future = new Date('2100-01-01T00:00:00.000Z');

/** Makes the rows of one place in the order, which decides their type: 6 of 10 episodes, 3 facts, 1 rule. */
interface Seeder {
  fill(from: number, to: number): Promise<void>;
}

/**
 * Rows by plain statements, as storing them one by one would take hours. Their vectors are those of some texts with
 * noise, as embedding each would, too.
 */
async function createSeeder(context: MemoryContext): Promise<Seeder> {
  await storeEpisode(context, { butler: 'bench', content: 'The first episode registers the embedding model' });
  const { id: versionId } = await context.db.tenant(context.principal.tenantId).embeddingVersion.findFirstOrThrow();
  const patterns = await embedPatterns(context);
  return {
    fill: async (from, to) => {
      for (let start = from; start < to; start += chunkSize) {
        const places = Array.from({ length: Math.min(chunkSize, to - start) }, (_, index) => start + index);
        await insertRows(context, versionId, places, patterns);
      }
      await context.db.asOwner((client) => client.query('ANALYZE episodes, facts, rules'));
    },
  };
}

async function embedPatterns({ embedder }: MemoryContext): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let start = 0; start < patternCount; start += 50) {
    vectors.push(...(await embedder.embed(Array.from({ length: 50 }, (_, index) => sentence(start + index)))));
  }
  return vectors;
}

/** Near its pattern, and never the same twice. */
function vectorOf(place: number, patterns: readonly Float32Array[]): string {
  const pattern = patterns[place % patterns.length] ?? new Float32Array();
  const noise = 1.2 / Math.sqrt(pattern.length);
  let state = place + 1;
  const noisy = Array.from(pattern, (value) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return value + noise * (state / 2 ** 31 - 1);
  });
  const length = Math.hypot(...noisy);
  return pgvector.toSql(noisy.map((value) => Number((value / length).toFixed(6)))) as string;
}

const statements = {
  episode: `INSERT INTO episodes (tenant_id, id, content, embedding, embedding_version_id, created_at, butler, session_id, expires_at)
    SELECT $1, r.id, r.content, r.vector::vector, $2, r.at, 'bench', md5((r.place / 20)::text)::uuid, $3 FROM rows r`,
  fact: `INSERT INTO facts (tenant_id, id, content, embedding, embedding_version_id, created_at, recorded_at, subject, predicate, permanence, decay_rate)
    SELECT $1, r.id, r.content, r.vector::vector, $2, r.at, r.at, 'person ' || r.place, 'noted', 'permanent', 0
    FROM rows r WHERE $3::timestamptz IS NOT NULL`,
  rule: `INSERT INTO rules (tenant_id, id, content, embedding, embedding_version_id, created_at)
    SELECT $1, r.id, r.content, r.vector::vector, $2, r.at FROM rows r WHERE $3::timestamptz IS NOT NULL`,
};

function typeOf(place: number): keyof typeof statements {
  return place % 10 === 9 ? 'rule' : place % 10 > 5 ? 'fact' : 'episode';
}

async function insertRows(
  { db, principal }: MemoryContext,
  versionId: string,
  places: readonly number[],
  patterns: readonly Float32Array[],
): Promise<void> {
  for (const type of ['episode', 'fact', 'rule'] as const) {
    const rows = places
      .filter((place) => typeOf(place) === type)
      .map((place) => {
        const at = new Date(Date.now() - (place % 100_000) * 1000);
        return { place, id: randomUUID(), content: sentence(place), vector: vectorOf(place, patterns), at };
      });
    const given = [principal.tenantId, versionId, future, JSON.stringify(rows)];
    const named = `WITH rows AS MATERIALIZED (
      SELECT * FROM json_to_recordset($4::json) AS r(place int, id uuid, content text, vector text, at timestamptz))`;
    await db.asOwner((client) => client.query(`${named} ${statements[type]}`, given));
  }
}

const people = [
  'Anna',
  'Ben',
  'Carla',
  'Deniz',
  'Emil',
  'Fatima',
  'Greta',
  'Hugo',
  'Ilse',
  'Jamal',
  'Kira',
  'Leo',
  'Mina',
];
const acts = [
  'ordered',
  'repaired',
  'borrowed',
  'cancelled',
  'painted',
  'sold',
  'cleaned',
  'measured',
  'wrapped',
  'lost',
  'packed',
];
const things = [
  'the garden chairs',
  'a winter coat',
  'the kitchen scales',
  'two theatre tickets',
  'the bicycle pump',
  'a box of lemons',
  'the piano stool',
  'an old radio',
  'the blue suitcase',
  'a pair of skates',
  'the coffee mill',
  'a map of Lisbon',
  'the smoke alarm',
  'a birthday cake',
  'the dentist bill',
  'a telescope',
  'the porch light',
];
const reasons = [
  'because of the rain',
  'before the holidays',
  'after a long shift',
  'for the neighbours',
  'on short notice',
  'with a discount',
  'against all advice',
  'as a surprise',
  'for the school play',
  'to save money',
  'out of boredom',
  'at the market',
  'in the evening',
  'while the others slept',
  'on the way home',
  'without a receipt',
  'with a friend',
  'for the second time',
  'as agreed',
];

function pick(list: readonly string[], number: number): string {
  return list[number % list.length] ?? '';
}

/** Texts of the length that memories have; the lists have no common divisor, so that they come in every combination. */
function sentence(number: number): string {
  return `${pick(people, number)} ${pick(acts, number)} ${pick(things, number)} ${pick(reasons, number)}; noted under entry${number % 5003}`;
}

/** Not the same twice in thousands, so that no embedding is kept from before. */
function question(number: number): string {
  const [person, thing] = [pick(people, number * 5 + 2), pick(things, number * 3 + 1)];
  return `What has ${person} done with ${thing} ${pick(reasons, number)}?`;
}
