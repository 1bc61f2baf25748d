import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import { MemoryError } from '../shared/errors.ts';
import { packageRoot } from '../shared/package-root.ts';

/**
 * Applies prisma/migrations in order. The bookkeeping is Prisma's own table, under Prisma's own lock, so that an
 * operator who runs `prisma migrate deploy` and a server that starts agree on what is done, even at the same moment.
 */
export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** The part of a Database that migrations need. */
interface OwnedDatabase {
  asOwner<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
}

export interface MigrationReport {
  applied: string[];
  total: number;
}

interface AppliedMigration {
  name: string;
  checksum: string;
  finished: boolean;
}

const prismaAdvisoryLock = 72_707_369;

export async function readMigrations(directory = join(packageRoot, 'prisma', 'migrations')): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.toSorted().map((name) => readMigration(directory, name)));
}

async function readMigration(directory: string, name: string): Promise<Migration> {
  const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

export async function migrate(database: OwnedDatabase, migrations?: Migration[]): Promise<MigrationReport> {
  const wanted = migrations ?? (await readMigrations());
  return database.asOwner(async (client) => {
    await client.query(createBookkeeping);
    const before = await listApplied(client);
    refuseUnknown(before, wanted);
    const applied: string[] = [];
    for (const migration of wanted) {
      // Without a transaction for each of those that were applied long ago: that is most of what a usual start asks.
      const done = before.find(({ name }) => name === migration.name);
      if (done !== undefined) refuseEdited(done, migration);
      else if (await applyOnce(client, migration)) applied.push(migration.name);
    }
    return { applied, total: wanted.length };
  });
}

/** Names of the migrations that this version has and the database has not. */
export async function pendingMigrations(database: OwnedDatabase): Promise<string[]> {
  const wanted = await readMigrations();
  return database.asOwner(async (client) => {
    const { rows } = await client.query<{ there: boolean }>(
      "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there",
    );
    const applied = rows[0]?.there === true ? await listApplied(client) : [];
    return wanted.filter(({ name }) => !applied.some((done) => done.name === name)).map(({ name }) => name);
  });
}

/** One transaction each: what fails leaves no trace, and two processes that start together take turns. */
async function applyOnce(client: PoolClient, migration: Migration): Promise<boolean> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [prismaAdvisoryLock]);
    const done = (await listApplied(client)).find(({ name }) => name === migration.name);
    if (done !== undefined) refuseEdited(done, migration);
    else await apply(client, migration);
    await client.query('COMMIT');
    return done === undefined;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error instanceof MemoryError ? error : migrationFailed(migration, error);
  }
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  const startedAt = new Date();
  await client.query(migration.sql);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
     VALUES ($1, $2, clock_timestamp(), $3, $4, 1)`,
    [randomUUID(), migration.checksum, migration.name, startedAt],
  );
}

async function listApplied(client: PoolClient): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

function refuseUnknown(applied: AppliedMigration[], wanted: Migration[]): void {
  const unfinished = applied.find(({ finished }) => !finished);
  if (unfinished !== undefined) {
    throw new MemoryError('STARTUP', `migration ${unfinished.name} was begun by another tool and did not finish`, {
      hint: 'Resolve it with `prisma migrate resolve`, then start again.',
    });
  }
  const unknown = applied.find(({ name }) => !wanted.some((migration) => migration.name === name));
  if (unknown !== undefined) {
    throw new MemoryError(
      'STARTUP',
      `the database has migration ${unknown.name}, which this version does not know: it was used by a newer version`,
      { hint: 'Start that version or a later one. A downgrade needs a restore of an earlier backup.' },
    );
  }
}

function refuseEdited(done: AppliedMigration, migration: Migration): void {
  if (done.checksum === migration.checksum) return;
  throw new MemoryError(
    'STARTUP',
    `migration ${migration.name} was changed after it was applied: checksum ${migration.checksum}, applied ${done.checksum}`,
  );
}

function migrationFailed(migration: Migration, cause: unknown): MemoryError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MemoryError('STARTUP', `migration ${migration.name} failed and was rolled back: ${reason}`, { cause });
}

const createBookkeeping = `
  DO $$
  BEGIN
    PERFORM pg_advisory_xact_lock(${prismaAdvisoryLock});
    CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id varchar(36) PRIMARY KEY NOT NULL,
      checksum varchar(64) NOT NULL,
      finished_at timestamptz,
      migration_name varchar(255) NOT NULL,
      logs text,
      rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(),
      applied_steps_count integer NOT NULL DEFAULT 0
    );
  END
  $$`;
