import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openDatabase, type Database } from '../../src/db/database.ts';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import type { EngineName } from '../../src/db/engines/engine.ts';
import { copyDirectory } from './copy-directory.ts';
import { databaseUrl, withAdmin } from './postgres-admin.ts';
import { testDatabaseOptions } from './templates.ts';
import type { TestTemplates } from './test-run.ts';

export interface TestDatabase {
  readonly engine: EngineName;
  /** The one that is open now: another after `reopen`. */
  readonly database: Database;
  readonly options: DatabaseOptions;
  /** Closes and opens again, as a restart of the server does, with some options changed if wanted. */
  reopen(changes?: Partial<DatabaseOptions>): Promise<Database>;
  close(): Promise<void>;
  drop: () => Promise<void>;
}

export const testEngine: EngineName = inject('testRun').engine;

/** A migrated database of the caller's own, in a copy of a prepared one. */
export async function createTestDatabase(changes: Partial<DatabaseOptions> = {}): Promise<TestDatabase> {
  return openCopy('migrated', changes);
}

/** The same with no migration applied. */
export async function createEmptyDatabase(changes: Partial<DatabaseOptions> = {}): Promise<TestDatabase> {
  return openCopy('empty', changes);
}

async function openCopy(template: keyof TestTemplates, changes: Partial<DatabaseOptions>): Promise<TestDatabase> {
  const { storage, remove } = testEngine === 'pglite' ? await copyPglite(template) : await copyPostgres(template);
  let options = { ...testDatabaseOptions, ...storage, ...changes };
  let open: Database | undefined = await openDatabase(options);
  const close = async (): Promise<void> => {
    const closing = open;
    open = undefined;
    await closing?.close();
  };
  return {
    engine: testEngine,
    get database() {
      if (open === undefined) throw new Error('this test database is closed');
      return open;
    },
    get options() {
      return options;
    },
    reopen: async (later = {}) => {
      await close();
      options = { ...options, ...later };
      open = await openDatabase(options);
      return open;
    },
    close,
    drop: async () => {
      await close();
      await remove();
    },
  };
}

interface Copy {
  storage: Partial<DatabaseOptions>;
  remove: () => Promise<void>;
}

async function copyPglite(template: keyof TestTemplates): Promise<Copy> {
  const { directory, templates } = inject('testRun');
  const home = await mkdtemp(join(directory, 'database-'));
  await copyDirectory(templates[template], join(home, testDatabaseOptions.name));
  return { storage: { home }, remove: () => rm(home, { recursive: true }) };
}

async function copyPostgres(template: keyof TestTemplates): Promise<Copy> {
  const { adminUrl, databasePrefix, templates } = inject('testRun');
  const name = databasePrefix + randomBytes(4).toString('hex');
  await withAdmin(adminUrl, (client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${templates[template]}"`));
  return {
    storage: { url: databaseUrl(adminUrl, name) },
    remove: async () => {
      await withAdmin(adminUrl, (client) => client.query(`DROP DATABASE "${name}" WITH (FORCE)`));
    },
  };
}
