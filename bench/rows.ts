import type { PoolClient } from 'pg';
import pgvector from 'pgvector';
import type { MemoryContext } from '../src/memory/context.ts';
import { storeEpisode } from '../src/memory/episodes/episodes.ts';
import { nouns, patternCount, sentence, sentenceParts, topicSyllables } from './texts.ts';

/** Rows in one statement: some progress to see, and no transaction of an hour. */
const chunkRows = 50_000;
const noiseCount = 5000;
/** From so many new rows on, indexes are built after them and not row by row. */
const bulkRows = 5000;
const future = '2100-01-01T00:00:00.000Z';

/** Fills the tables up with made-up rows: 6 of 10 episodes, 3 facts, 1 rule. */
export interface Filler {
  fill(from: number, to: number): Promise<void>;
}

/**
 * Rows made by the database itself, as storing them one by one would take hours. Their vectors are those of some texts
 * with noise, as embedding each would, too: clusters, and no two the same.
 */
export async function createFiller(context: MemoryContext): Promise<Filler> {
  const { db, principal } = context;
  await storeEpisode(context, { butler: 'bench', content: 'The first episode registers the embedding model' });
  const { id: versionId } = await db.client.embeddingVersion.findFirstOrThrow();
  const patterns = await embedPatterns(context);
  return {
    fill: (from, to) =>
      db.database.asOwner(async (client) => {
        await createParts(client, patterns);
        const insertAll = async (): Promise<void> => {
          for (let start = from; start < to; start += chunkRows) {
            await insertRows(client, principal.tenantId, versionId, start, Math.min(to, start + chunkRows));
          }
        };
        await (to - from < bulkRows ? insertAll() : withoutIndexes(client, insertAll));
        await client.query('VACUUM ANALYZE episodes, facts, rules');
      }),
  };
}

export async function embedPatterns({ embedder }: MemoryContext): Promise<string[]> {
  const vectors: Float32Array[] = [];
  for (let start = 0; start < patternCount; start += 50) {
    const texts = Array.from({ length: 50 }, (_, index) => sentence(start + index));
    vectors.push(...(await embedder.embed(texts)).map(({ vector }) => vector));
  }
  return vectors.map((vector) => pgvector.toSql(Array.from(vector)) as string);
}

/** What rows are put together from, for this connection only. */
export async function createParts(client: PoolClient, patterns: readonly string[]): Promise<void> {
  const dimensions = patterns[0]?.split(',').length ?? 0;
  await client.query('DROP TABLE IF EXISTS bench_patterns, bench_noise');
  await client.query('SELECT setseed(0.5)');
  await client.query(
    `CREATE TEMP TABLE bench_patterns AS
       SELECT place::int - 1 AS place, given::vector AS vector FROM unnest($1::text[]) WITH ORDINALITY AS g (given, place)`,
    [patterns],
  );
  await client.query(
    `CREATE TEMP TABLE bench_noise AS
       SELECT place, (SELECT array_agg((random() * 2 - 1) * 0.85 / sqrt($1::float8)) FROM generate_series(1, $1::int) WHERE place >= 0)::vector AS vector
       FROM generate_series(0, ${noiseCount - 1}) place`,
    [dimensions],
  );
  await client.query('CREATE UNIQUE INDEX ON bench_patterns (place)');
  await client.query('CREATE UNIQUE INDEX ON bench_noise (place)');
  await client.query('ANALYZE bench_patterns, bench_noise');
}

export async function withoutIndexes(client: PoolClient, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    `SELECT indexname, indexdef FROM pg_indexes
     WHERE tablename IN ('episodes', 'facts', 'rules') AND indexdef ~ 'USING (hnsw|gin)'`,
  );
  for (const { indexname } of rows) await client.query(`DROP INDEX ${indexname}`);
  await work();
  await client.query(`SET maintenance_work_mem = '${process.env['BENCH_MAINTENANCE_MEMORY'] ?? '512MB'}'`);
  await client.query('SET max_parallel_maintenance_workers = 0');
  for (const { indexdef } of rows) await client.query(indexdef);
  await client.query('RESET maintenance_work_mem');
  await client.query('RESET max_parallel_maintenance_workers');
}

/**
 * Episodes have been consolidated: thousands that wait for it would be dealt with while something else is measured. One fact
 * of nine is superseded, as reads look at those, too.
 */
const inserts = {
  episode: `INSERT INTO episodes (tenant_id, id, content, embedding, embedding_version_id, created_at, butler, session_id, expires_at, consolidation_status)
    SELECT $1, id, content, vector, $2::uuid, at, 'bench', md5((n / 20)::text)::uuid, '${future}', 'consolidated' FROM made`,
  fact: `INSERT INTO facts (tenant_id, id, content, embedding, embedding_version_id, created_at, recorded_at, subject, predicate, permanence, decay_rate, validity, superseded_at)
    SELECT $1, id, content, vector, $2::uuid, at, at, 'person ' || n, 'noted', 'permanent', 0,
      CASE WHEN n % 30 = 6 THEN 'superseded' ELSE 'active' END, CASE WHEN n % 30 = 6 THEN now() END FROM made`,
  rule: `INSERT INTO rules (tenant_id, id, content, embedding, embedding_version_id, created_at)
    SELECT $1, id, content, vector, $2::uuid, at FROM made`,
};

const places = { episode: 'n % 10 < 6', fact: 'n % 10 BETWEEN 6 AND 8', rule: 'n % 10 = 9' };

async function insertRows(
  client: PoolClient,
  tenantId: string,
  versionId: string,
  from: number,
  to: number,
): Promise<void> {
  for (const type of ['episode', 'fact', 'rule'] as const) {
    await client.query(
      `WITH ${madeRows(`generate_series($3::int, $4::int - 1) n WHERE ${places[type]}`)} ${inserts[type]}`,
      [tenantId, versionId, from, to],
    );
  }
}

/** For a WITH: the rows `made` of the numbers `n` that are named. */
export function madeRows(numbers: string): string {
  return `made AS MATERIALIZED (
    SELECT n, gen_random_uuid() AS id, ${contentInSql()} AS content,
      now() - (n % 100000) * interval '1 second' AS at,
      l2_normalize(p.vector + a.vector + b.vector) AS vector
    FROM (
      SELECT n, power(${nouns.length}, random())::int - 1 AS noun, power(${nouns.length}, random())::int - 1 AS other
      FROM ${numbers}
    ) chosen
    JOIN bench_patterns p ON p.place = n % ${patternCount}
    JOIN bench_noise a ON a.place = n % ${noiseCount}
    JOIN bench_noise b ON b.place = (n::bigint * 7 + n / ${noiseCount} + 13) % ${noiseCount})`;
}

/** `sentence` as the database says it, with two words of the vocabulary that are rarer the further down it they stand. */
function contentInSql(): string {
  const lists = sentenceParts.map((list) => `(${arrayInSql(list)})[1 + n % ${list.length}]`);
  return `concat_ws(' ', ${lists.join(', ')}) || ', about ' || ${nounInSql('noun')} || ' and ' || ${nounInSql('other')}
    || '; noted under entry' || (n % 5003)`;
}

function nounInSql(column: string): string {
  const syllables = `(${arrayInSql(topicSyllables)})`;
  const count = topicSyllables.length;
  return [1, count, count * count].map((step) => `${syllables}[1 + ${column} / ${step} % ${count}]`).join(' || ');
}

function arrayInSql(list: readonly string[]): string {
  return `ARRAY[${list.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')}]`;
}
