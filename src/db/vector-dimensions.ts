import type { PoolClient } from 'pg';
import { MemoryError } from '../errors.ts';
import type { Database } from './database.ts';

/**
 * The migrations make vector columns for MiniLM's 384 dimensions. A fresh database may be told to use a model of
 * another size; one that holds vectors may not, because its vectors would be lost.
 */
const tables = ['episodes', 'facts', 'rules'];
const columns = ['embedding', 'alternate_embedding'];

export async function alignVectorDimensions(database: Database, dimensions: number): Promise<void> {
  await database.asOwner(async (client) => {
    const stored = await storedDimensions(client);
    if (stored === dimensions) return;
    await refuseLoss(client, stored, dimensions);
    for (const table of tables) {
      const changes = columns.map((column) => `ALTER COLUMN ${column} TYPE vector(${dimensions})`);
      await client.query(`ALTER TABLE ${table} ${changes.join(', ')}`);
    }
  });
}

export async function storedDimensions(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ dimensions: number }>(
    `SELECT atttypmod AS dimensions FROM pg_attribute WHERE attrelid = 'episodes'::regclass AND attname = 'embedding'`,
  );
  return rows[0]?.dimensions ?? 0;
}

async function refuseLoss(client: PoolClient, stored: number, configured: number): Promise<void> {
  const filled = tables.flatMap((table) =>
    columns.map((column) => `EXISTS (SELECT FROM ${table} WHERE ${column} IS NOT NULL)`),
  );
  const { rows } = await client.query<{ filled: boolean }>(`SELECT ${filled.join(' OR ')} AS filled`);
  if (rows[0]?.filled !== true) return;
  throw new MemoryError(
    'CONFIGURATION',
    `butler.memory.embedding_dimensions: ${stored} allowed, as the database holds vectors of ${stored} dimensions; given ${configured}`,
  );
}
