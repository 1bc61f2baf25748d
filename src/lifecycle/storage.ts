import type { Database } from '../db/database.ts';
import type { SweepReport } from './sweep.ts';

/**
 * PGlite has no background writer and no autovacuum: unless something checkpoints, its write-ahead log only grows.
 * A PostgreSQL server looks after itself, and needs only fresh statistics from us now and then.
 */
export async function maintainStorage(database: Database, dryRun: boolean): Promise<SweepReport> {
  const statements = database.engine === 'pglite' ? ['VACUUM', 'ANALYZE', 'CHECKPOINT'] : ['ANALYZE'];
  if (dryRun) return { statements: statements.length };
  await database.asOwner(async (client) => {
    for (const statement of statements) await client.query(statement);
  });
  return { statements: statements.length };
}
