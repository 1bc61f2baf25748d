import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { dropDatabases } from './postgres-admin.ts';
import { preparePgliteTemplates, preparePostgresTemplates } from './templates.ts';
import { chosenEngines, type TestRun } from './test-run.ts';

let run: TestRun | undefined;

/** Prepares what createTestDatabase copies. Runs once for each engine, in the project that has its name. */
export async function setup(project: TestProject): Promise<void> {
  const engine = chosenEngines(process.env).find((name) => name === project.name);
  if (engine === undefined) throw new Error(`no engine is called ${project.name}`);
  const adminUrl = engine === 'postgres' ? requiredUrl() : '';
  const templates = engine === 'postgres' ? await preparePostgresTemplates(adminUrl) : await preparePgliteTemplates();
  run = {
    engine,
    adminUrl,
    templates,
    // `npm test` removes this directory itself, also when it is interrupted and no teardown runs.
    directory: await mkdtemp(join(process.env['BUTLER_TEST_DIRECTORY'] ?? tmpdir(), 'butler-memory-test-')),
    databasePrefix: `butler_memory_test_${randomBytes(4).toString('hex')}_`,
  };
  project.provide('testRun', run);
}

export async function teardown(): Promise<void> {
  if (run === undefined) return;
  await rm(run.directory, { recursive: true, force: true });
  if (run.engine === 'postgres') await dropDatabases(run.adminUrl, run.databasePrefix);
}

function requiredUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined && url !== '') return url;
  throw new Error(
    'TEST_DATABASE_URL must be set to test on PostgreSQL (got nothing): `npm test` starts a server and sets it',
  );
}
