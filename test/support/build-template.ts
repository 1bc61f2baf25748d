import { openDatabase } from '../../src/db/database.ts';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readInput } from './run-typescript.ts';

/** Opens or creates a database, migrates it if told to, and closes it with nothing left in the write-ahead log. */
export interface BuildTemplate {
  options: DatabaseOptions;
  migrated: boolean;
}

export interface BuiltTemplate {
  /** What CREATE DATABASE copies from: two thirds of PGlite's files, and PGlite cannot create a database. */
  unusedDatabases: string[];
}

const { options, migrated } = readInput() as BuildTemplate;
const database = await openDatabase(options);
if (migrated) await migrate(database);
const { rows } = await database.asOwner(async (client) => {
  await client.query('CHECKPOINT');
  return client.query<{ oid: string }>('SELECT oid::text FROM pg_database WHERE datname <> current_database()');
});
await database.close();
console.log(JSON.stringify({ unusedDatabases: rows.map(({ oid }) => oid) } satisfies BuiltTemplate));
