import type { PoolClient } from 'pg';
import type { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** Open and empty, for the next test of this worker: to copy and open another takes ten times as long as to empty one. */
const idle: TestDatabase[] = [];
/** Each of them is a thread or some connections, and a worker rarely needs two at once. */
const mostIdle = 1;

/** Object ids of what initdb created are below. */
const firstOwnId = 16_384;

/** What a database has before any test used it. */
let untouched: string | undefined;

/**
 * A migrated, empty database of the caller's own. `drop` empties it for the next caller, unless a test has changed more
 * than rows: then it goes.
 */
export async function takeTestDatabase(): Promise<Pick<TestDatabase, 'database' | 'drop'>> {
  const taken = idle.pop() ?? (await createTestDatabase());
  const { database } = taken;
  untouched ??= await database.asOwner(describeSchema);
  return {
    // A copy: functions that a test replaces are not those of the next.
    database: { ...database },
    drop: async () => {
      if (idle.length < mostIdle && (await empty(database))) idle.push(taken);
      else await taken.drop();
    },
  };
}

/** For a test that watches connections from their beginning: the database that is taken next is newly opened. */
export async function dropIdleDatabases(): Promise<void> {
  for (const database of idle.splice(0)) await database.drop();
}

/** Whether it is as new. One that a test closed or broke is not. */
async function empty(database: Database): Promise<boolean> {
  try {
    return await database.asOwner(async (client) => {
      await client.query(emptyTables);
      return (await describeSchema(client)) === untouched;
    });
  } catch {
    return false;
  }
}

/**
 * The lock is not waited for: whoever holds it would go on to write. Triggers that keep events from being deleted are off
 * for this transaction.
 */
const emptyTables = `
  DO $$
  DECLARE
    name text;
    filled boolean;
    names text[] := '{}';
  BEGIN
    SET LOCAL session_replication_role = replica;
    SET LOCAL lock_timeout = '1s';
    FOR name IN
      SELECT oid::regclass::text FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> '_prisma_migrations'
    LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO filled;
      IF filled THEN names := names || name; END IF;
    END LOOP;
    IF names <> '{}' THEN
      EXECUTE format('TRUNCATE %s RESTART IDENTITY CASCADE', array_to_string(names, ', '));
    END IF;
    DELETE FROM pg_statistic WHERE starelid >= ${firstOwnId};
  END $$`;

/** All that a test may change beside the rows of public tables. The job queue is a schema of its own. */
const schemaLines = `
  WITH own AS (
    SELECT c.*, i.indisvalid FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.oid >= ${firstOwnId} AND c.relnamespace <> 'pg_toast'::regnamespace)
  SELECT concat_ws(' ', 'relation', oid, relname, relowner, relacl, reloptions, relrowsecurity, relforcerowsecurity,
    indisvalid) AS line FROM own
  UNION ALL SELECT concat_ws(' ', 'column', attrelid, attname, atttypid, atttypmod, attnotnull, attidentity, attacl)
    FROM pg_attribute WHERE attnum > 0 AND attrelid IN (SELECT oid FROM own)
  UNION ALL SELECT concat_ws(' ', 'default', oid, adrelid) FROM pg_attrdef
  UNION ALL SELECT concat_ws(' ', 'trigger', oid, tgenabled) FROM pg_trigger
  UNION ALL SELECT concat_ws(' ', 'function', oid, proname, proacl, md5(prosrc)) FROM pg_proc WHERE oid >= ${firstOwnId}
  UNION ALL SELECT concat_ws(' ', 'constraint', oid, convalidated) FROM pg_constraint
  UNION ALL SELECT concat_ws(' ', 'policy', oid, polname) FROM pg_policy
  UNION ALL SELECT concat_ws(' ', 'setting', setdatabase, setrole, setconfig) FROM pg_db_role_setting
  UNION ALL SELECT concat_ws(' ', 'migration', migration_name, checksum) FROM _prisma_migrations`;

async function describeSchema(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ digest: string }>(
    `SELECT md5(string_agg(line, E'\\n' ORDER BY line)) AS digest FROM (${schemaLines}) lines`,
  );
  return rows[0]?.digest ?? '';
}
