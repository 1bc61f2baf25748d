import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import { readMigrations } from '../../src/db/migrate.ts';
import { packageRoot } from '../../src/shared/package-root.ts';
import type { BuildTemplate, BuiltTemplate } from './build-template.ts';
import { copyDirectory } from './copy-directory.ts';
import { databaseUrl, withAdmin } from './postgres-admin.ts';
import { runTypescript } from './run-typescript.ts';
import type { TestTemplates } from './test-run.ts';

export const testDatabaseOptions: DatabaseOptions = {
  home: '',
  name: 'memory',
  url: undefined,
  migrationUrl: undefined,
  poolSize: 5,
  connectTimeoutMs: 120_000,
  statementTimeoutMs: 120_000,
  transactionTimeoutMs: 120_000,
};

/** Clearing 128 MB of buffers at each start takes a third of the time to open a database of one megabyte. */
const templateSettings = "shared_buffers = '8MB'\n";

/**
 * Making a PGlite directory takes five seconds and migrating it one more, so both are done once and kept between runs,
 * under names that change with PGlite and with the migrations.
 */
export async function preparePgliteTemplates(): Promise<TestTemplates> {
  const cache = join(tmpdir(), `butler-memory-test-templates-${userInfo().uid}`);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const empty = join(cache, `empty-${digest(pgliteVersions() + templateSettings)}`);
  const migrated = join(cache, `migrated-${digest(pgliteVersions() + templateSettings + (await migrationsKey()))}`);
  await buildDirectory(empty, async (home) => {
    // In a directory that exists the engine creates a database; elsewhere it would unpack the migrated one of the build.
    await mkdir(join(home, testDatabaseOptions.name));
    const { unusedDatabases } = await build({ ...testDatabaseOptions, home }, false);
    const base = join(home, testDatabaseOptions.name, 'base');
    for (const oid of unusedDatabases) await rm(join(base, oid), { recursive: true });
    await appendFile(join(home, testDatabaseOptions.name, 'postgresql.conf'), templateSettings);
  });
  await buildDirectory(migrated, async (home) => {
    await copyDirectory(empty, join(home, testDatabaseOptions.name));
    await build({ ...testDatabaseOptions, home }, true);
  });
  return { empty, migrated };
}

/** A rename is all or nothing: a run beside this one never sees half a template. */
async function buildDirectory(target: string, fill: (home: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  const home = await mkdtemp(`${target}.`);
  await fill(home);
  await rename(join(home, testDatabaseOptions.name), target).catch((error: unknown) => {
    if (!existsSync(target)) throw error;
  });
  await rm(home, { recursive: true });
}

/** In a process of its own, as Node's loader is not what runs global-setup and PGlite's worker thread needs it. */
async function build(options: DatabaseOptions, migrated: boolean): Promise<BuiltTemplate> {
  return runTypescript<BuiltTemplate>('build-template', { options, migrated } satisfies BuildTemplate);
}

/** The lock makes two runs on one server take turns: one builds, the other finds it built. */
export async function preparePostgresTemplates(adminUrl: string): Promise<TestTemplates> {
  const migrated = `butler_memory_template_${digest(await migrationsKey())}`;
  await withAdmin(adminUrl, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [migrated]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [migrated]);
    if (rowCount === 0) await buildTemplateDatabase(client, adminUrl, migrated);
  });
  return { empty: 'template1', migrated };
}

/** Renamed when it is complete, so that an interrupted build leaves nothing that looks like a template. */
async function buildTemplateDatabase(client: Client, adminUrl: string, name: string): Promise<void> {
  const draft = `${name}_draft`;
  await client.query(`DROP DATABASE IF EXISTS "${draft}" WITH (FORCE)`);
  await client.query(`CREATE DATABASE "${draft}"`);
  await build({ ...testDatabaseOptions, url: databaseUrl(adminUrl, draft) }, true);
  await client.query(`ALTER DATABASE "${draft}" RENAME TO "${name}"`);
}

async function migrationsKey(): Promise<string> {
  const migrations = await readMigrations();
  return migrations.map(({ name, checksum }) => `${name} ${checksum}`).join('\n');
}

function pgliteVersions(): string {
  const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const names = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'];
  return names.map((name) => `${name} ${manifest.dependencies[name]}\n`).join('');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
