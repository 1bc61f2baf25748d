import type { PoolClient } from 'pg';
import { MemoryError } from '../shared/errors.ts';
import type { Database } from './database.ts';

/**
 * The migrations make vector columns for MiniLM's 384 dimensions. A slot that no version uses and that holds no vector is
 * given the size of the configured model; one that is in use keeps its own, so that a model of another size can take
 * over while search goes on with the old one.
 */
const tables = ['episodes', 'facts', 'rules'];
const slots = [
  { slot: 'primary', column: 'embedding' },
  { slot: 'alternate', column: 'alternate_embedding' },
] as const;

type Slot = (typeof slots)[number];

export async function alignVectorDimensions(database: Database, dimensions: number): Promise<void> {
  await database.asOwner(async (client) => {
    if ((await slotsToResize(client, dimensions)).length > 0) await resizeSlots(client, dimensions);
    await refuseMisfit(client, dimensions);
  });
}

/** Two processes that start together take turns, and the second finds nothing left to do. */
async function resizeSlots(client: PoolClient, dimensions: number): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('butler-memory vector dimensions', 0))`);
    for (const slot of await slotsToResize(client, dimensions)) await resize(client, slot, dimensions);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function slotsToResize(client: PoolClient, dimensions: number): Promise<Slot[]> {
  const found: Slot[] = [];
  for (const slot of slots) {
    if ((await readDimensions(client, slot)) !== dimensions && !(await isInUse(client, slot))) found.push(slot);
  }
  return found;
}

async function readDimensions(client: PoolClient, { column }: Slot): Promise<number> {
  const { rows } = await client.query<{ dimensions: number }>(
    `SELECT atttypmod AS dimensions FROM pg_attribute WHERE attrelid = 'episodes'::regclass AND attname = $1`,
    [column],
  );
  return rows[0]?.dimensions ?? 0;
}

async function isInUse(client: PoolClient, { slot, column }: Slot): Promise<boolean> {
  const filled = tables.map((table) => `EXISTS (SELECT FROM ${table} WHERE ${column}_version_id IS NOT NULL)`);
  const { rows } = await client.query<{ used: boolean }>(
    `SELECT EXISTS (SELECT FROM embedding_versions WHERE slot = $1 AND status <> 'retired') OR ${filled.join(' OR ')} AS used`,
    [slot],
  );
  return rows[0]?.used === true;
}

/** A new column, because another type for the old one would rewrite the table and build all of its indexes anew. */
async function resize(client: PoolClient, { column }: Slot, dimensions: number): Promise<void> {
  for (const table of tables) {
    await client.query(`ALTER TABLE ${table} DROP COLUMN ${column}, ADD COLUMN ${column} vector(${dimensions})`);
    await client.query(
      `ALTER TABLE ${table} ADD CONSTRAINT ${table}_${column}_check CHECK ((${column} IS NULL) = (${column}_version_id IS NULL))`,
    );
    await client.query(`CREATE INDEX ${table}_${column} ON ${table} USING hnsw (${column} vector_cosine_ops)`);
  }
}

async function refuseMisfit(client: PoolClient, configured: number): Promise<void> {
  const sizes: number[] = [];
  for (const slot of slots) sizes.push(await readDimensions(client, slot));
  if (sizes.includes(configured)) return;
  const stored = [...new Set(sizes)].join(' or ');
  throw new MemoryError(
    'CONFIGURATION',
    `butler.memory.embedding_dimensions must be ${stored}, as both vector slots hold vectors of that size (got ${configured})`,
    {
      hint: 'Start with the former embedding model until the job reembed has nothing left to do in any tenant; then change it.',
    },
  );
}
