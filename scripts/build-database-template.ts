import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseOptions } from '../src/begin-memory.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { prepareDatabase } from '../src/create-memory.ts';
import { templateFile, templateFolder } from '../src/db/engines/database-template.ts';
import { openDatabase, type Database } from '../src/db/database.ts';
import { packDirectory } from '../src/db/engines/directory-archive.ts';
import { readMigrations } from '../src/db/migrate.ts';

/** Makes the template of the embedded database in that folder, unless it is there; removes those of other versions. */
export async function buildDatabaseTemplate(folder: string = templateFolder): Promise<string> {
  const file = templateFile(folder, await readMigrations());
  if (existsSync(file)) return file;
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-template-'));
  try {
    const environment = { BUTLER_MEMORY_HOME: home };
    const { config } = loadConfig({ env: environment, workingDirectory: home, homeDirectory: home });
    const database = await openDatabase(databaseOptions(config));
    try {
      await prepareDatabase(database, config);
      await shrink(database);
    } finally {
      await database.close();
    }
    await rm(folder, { recursive: true, force: true });
    packDirectory(database.location, file);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  return file;
}

/**
 * Drops the databases that CREATE DATABASE copies from, two thirds of all files: PGlite cannot create one. Ends the
 * write-ahead log of the migrations, so that a copy has only what was written since.
 */
async function shrink(database: Database): Promise<void> {
  await database.asOwner(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE datname <> current_database()',
    );
    for (const { name } of rows) {
      await client.query(`ALTER DATABASE ${name} IS_TEMPLATE false`);
      await client.query(`DROP DATABASE ${name}`);
    }
    for (const statement of ['SET wal_recycle = off', 'SELECT pg_switch_wal()', 'CHECKPOINT']) {
      await client.query(statement);
    }
  });
}
