import { statfs } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import { databaseOptions } from '../begin-memory.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { redactConfig } from '../config/redact-config.ts';
import type { Config } from '../config/schema.ts';
import { embedderOptions } from '../create-memory.ts';
import { openDatabase, type Database } from '../db/database.ts';
import { createEmbedder } from '../embedding/create-embedder.ts';
import { createLogger } from '../shared/logger.ts';
import { unwrapDataKey } from '../encryption/data-key.ts';
import { checkMigrations, checkVectors, type CheckResult } from '../lifecycle/checks.ts';
import { ModelHealth } from '../lifecycle/model-health.ts';
import { describeModel } from '../memory/embedding-versions.ts';
import { createVault, findMasterKey, requireMasterKeys, type Vault } from '../encryption/vault.ts';
import { packageManifest } from '../shared/package-root.ts';
import { printLine } from './run.ts';

export interface Finding {
  section: string;
  ok: boolean;
  lines: string[];
}

/** Prints what a bug report needs. */
export async function doctor(loaded: LoadedConfig): Promise<void> {
  const findings = await examine(loaded);
  for (const { section, ok, lines } of findings) {
    printLine(`${ok ? 'ok  ' : 'FAIL'} ${section}`);
    for (const line of lines) printLine(`       ${line}`);
  }
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}

/** Examines every part. One that cannot be examined never hides the others. */
export async function examine({ config, source }: LoadedConfig): Promise<Finding[]> {
  const findings = [
    await find('versions', async () => versions()),
    await find('configuration', async () => describeConfig(config, source)),
    await find('disk', () => describeDisk(config)),
    await find('model', () => describeEmbedder(config)),
    await find('encryption', async () => describeEncryption(config)),
  ];
  return [...findings, ...(await examineDatabase(config))];
}

async function find(section: string, look: () => Promise<string[]>): Promise<Finding> {
  try {
    return { section, ok: true, lines: await look() };
  } catch (error) {
    return { section, ok: false, lines: [error instanceof Error ? error.message : String(error)] };
  }
}

function versions(): string[] {
  return [
    `butler-memory ${packageManifest.version}`,
    `node ${process.version}, ${platform()} ${release()} ${arch()}`,
    `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
  ];
}

function describeConfig(config: Config, source: LoadedConfig['source']): string[] {
  const environment = source.environment.length === 0 ? 'none' : source.environment.join(', ');
  return [
    `file: ${source.file ?? 'none, defaults'}`,
    `environment variables used: ${environment}`,
    ...JSON.stringify(redactConfig(config), null, 2).split('\n'),
  ];
}

async function describeDisk({ butler }: Config): Promise<string[]> {
  const { bavail, bsize } = await statfs(existsSync(butler.home) ? butler.home : '/');
  return [`data directory ${butler.home}: ${((bavail * bsize) / 2 ** 30).toFixed(1)} GiB free`];
}

const silent = createLogger({ log: { level: 'silent' } }, 'stderr');

/** Loading checks the digest of the weights and makes a first vector. */
async function describeEmbedder(config: Config): Promise<string[]> {
  const embedder = await createEmbedder(embedderOptions(config, silent));
  try {
    await embedder.load();
    return [describeModel(embedder.model), `digest ${embedder.model.digest}`, 'loads and embeds'];
  } finally {
    await embedder.close();
  }
}

async function examineDatabase(config: Config): Promise<Finding[]> {
  const directory = join(config.butler.home, config.db.name);
  // To open it would make it, and an examination leaves no trace.
  if (config.db.url === undefined && !existsSync(directory)) {
    return [{ section: 'database', ok: true, lines: [`none yet in ${directory}: the first start makes it`] }];
  }
  let database: Database | undefined;
  const opened = await find('database', async () => {
    database = await openDatabase(databaseOptions(config));
    return describeServer(database);
  });
  if (database === undefined) return [opened];
  const db = database;
  try {
    return [
      opened,
      await find('migrations', () => describeCheck(checkMigrations(db), 'all applied')),
      await find('indexes', () => describeIndexes(db)),
      await find('embedding versions', () => describeVersions(db, config)),
      await find('data keys', () => describeDataKeys(db, createVault(config, silent))),
    ];
  } finally {
    await db.close();
  }
}

async function describeServer(db: Database): Promise<string[]> {
  const row = await queryOne<{ version: string; vector: string | null; size: string; zone: string }>(
    db,
    `SELECT version(), current_setting('TimeZone') AS zone, pg_size_pretty(pg_database_size(current_database())) AS size,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector`,
  );
  return [
    `${db.engine} at ${db.location}`,
    row.version,
    `pgvector ${row.vector ?? 'not installed'}`,
    `size ${row.size}`,
  ];
}

/** Health runs the same check. */
async function describeCheck(check: Promise<CheckResult>, whenOk: string): Promise<string[]> {
  const { status, detail } = await check;
  if (status !== 'ok') throw new Error(detail ?? status);
  return [whenOk];
}

/** An index that was left invalid by an interrupted build is there, costs writes and is never used. */
async function describeIndexes(db: Database): Promise<string[]> {
  const row = await queryOne<{ total: number; invalid: string[] }>(
    db,
    `SELECT count(*)::int AS total,
       coalesce(array_agg(indexrelid::regclass::text) FILTER (WHERE NOT indisvalid), '{}') AS invalid
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = current_schema()::regnamespace`,
  );
  if (row.invalid.length > 0) throw new Error(`invalid: ${row.invalid.join(', ')}; rebuild with REINDEX`);
  return [`${row.total} indexes, all valid`];
}

async function describeVersions(db: Database, config: Config): Promise<string[]> {
  const embedder = await createEmbedder(embedderOptions(config, silent));
  try {
    const check = checkVectors(new ModelHealth({ db, embedder }));
    return await describeCheck(check, 'every tenant has vectors of the configured model, or none');
  } finally {
    await embedder.close();
  }
}

/** Ids are fingerprints: they tell keys apart, and nothing of them. */
function describeEncryption(config: Config): string[] {
  const { masterKeys, patternSource } = createVault(config, silent);
  const { current, previous } = masterKeys;
  return [
    patternSource === null ? 'no predicate is encrypted' : `encrypted: ${config.encryption.predicates.join(', ')}`,
    `master key ${current?.id ?? 'none'}${previous === undefined ? '' : `, before it ${previous.id}`}`,
  ];
}

/** Each is unwrapped, as it would be for the first fact that is read. */
async function describeDataKeys(db: Database, vault: Vault): Promise<string[]> {
  await requireMasterKeys(db, vault);
  let [count, lost] = [0, 0];
  for (const tenantId of await db.listTenants()) {
    for (const { id, masterKeyId, wrappedKey, status } of await db.forTenant(tenantId).client.dataKey.findMany()) {
      const master = findMasterKey(vault, masterKeyId);
      if (status === 'lost') lost++;
      else if (master === undefined || unwrapDataKey(master, { tenantId, id }, wrappedKey) === null) {
        throw new Error(`data key ${id} of tenant ${tenantId} is not what master key ${masterKeyId} wrapped`);
      } else count++;
    }
  }
  return [`${count} data keys, all can be used${lost === 0 ? '' : `; ${lost} are lost`}`];
}

async function queryOne<Row extends object>(db: Database, sql: string): Promise<Row> {
  const { rows } = await db.asOwner((client: PoolClient) => client.query<Row>(sql));
  return rows[0] as Row;
}
