import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type ColumnType,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { PoolClient } from 'pg';
import type { Migration } from '../../src/db/migrate.ts';
import { packageRoot } from '../../src/shared/package-root.ts';

/**
 * Prisma's own schema engine, run in process on one connection: the judge of whether schema.prisma, the migrations and
 * our bookkeeping of them are what Prisma takes them for. The command line cannot do it without a downloaded binary.
 */
async function startSchemaEngine(client: PoolClient): Promise<bindings.SchemaEngine> {
  await loadEngine();
  const factory: SqlMigrationAwareDriverAdapterFactory = {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => Promise.resolve(adapterFor(client)),
    connectToShadowDb: () => Promise.reject(new Error('a shadow database is never needed here')),
  };
  const { files } = await schemaFiles();
  const datamodels = files.map(({ path, content }): [string, string] => [path, content]);
  return bindings.SchemaEngine.new({ datamodels }, () => undefined, bindMigrationAwareSqlAdapterFactory(factory));
}

const noFilters = { externalTables: [], externalEnums: [] };

/** The statements that would turn the database into what schema.prisma describes. */
export async function listDrift(client: PoolClient): Promise<string[]> {
  const engine = await startSchemaEngine(client);
  const schema = await schemaFiles();
  const { stdout } = await engine.diff({
    from: { tag: 'schemaDatasource', ...schema, configDir: packageRoot },
    to: { tag: 'schemaDatamodel', ...schema },
    script: true,
    exitCode: null,
    filters: noFilters,
  });
  const script = (stdout ?? '').replaceAll(/^--.*$/gm, '');
  return script
    .split(';')
    .map((statement) => statement.trim().replaceAll(/\s+/g, ' '))
    .filter((statement) => statement !== '');
}

function migrationList(migrations: Migration[]): bindings.MigrationList {
  return {
    baseDir: join(packageRoot, 'prisma', 'migrations'),
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  };
}

export async function applyWithPrisma(client: PoolClient, migrations: Migration[]): Promise<string[]> {
  const engine = await startSchemaEngine(client);
  const report = await engine.applyMigrations({ migrationsList: migrationList(migrations), filters: noFilters });
  return report.appliedMigrationNames;
}

export async function diagnoseWithPrisma(
  client: PoolClient,
  migrations: Migration[],
): Promise<bindings.DiagnoseMigrationHistoryOutput> {
  const engine = await startSchemaEngine(client);
  return engine.diagnoseMigrationHistory({
    migrationsList: migrationList(migrations),
    optInToShadowDatabase: false,
    filters: noFilters,
  });
}

async function schemaFiles(): Promise<bindings.SchemasContainer> {
  const path = join(packageRoot, 'prisma', 'schema.prisma');
  return { files: [{ path, content: await readFile(path, 'utf8') }] };
}

let loaded: Promise<void> | undefined;

/** What the package's main module does with an import of the .wasm file, which Node 20 does not know. */
async function loadEngine(): Promise<void> {
  loaded ??= (async () => {
    const directory = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
    const bytes = readFileSync(join(directory, 'schema_engine_bg.wasm'));
    const imports = { './schema_engine_bg.js': bindings as unknown as WebAssembly.ModuleImports };
    const { instance } = await WebAssembly.instantiate(bytes, imports);
    const { __wbg_set_wasm: setWasm } = bindings as unknown as {
      __wbg_set_wasm: (exports: WebAssembly.Exports) => void;
    };
    setWasm(instance.exports);
    (instance.exports['__wbindgen_start'] as () => void)();
  })();
  return loaded;
}

/** Prisma's adapter for `pg` refuses the type "char", which the catalog is full of: hence one that maps it. */
function adapterFor(client: PoolClient): SqlDriverAdapter {
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    queryRaw: async ({ sql, args }: SqlQuery) => {
      const { fields, rows } = await client.query<unknown[]>({ text: sql, values: args, rowMode: 'array' });
      return {
        columnNames: fields.map(({ name }) => name),
        columnTypes: fields.map(({ dataTypeID }) => columnTypes[dataTypeID] ?? ColumnTypeEnum.Text),
        rows: rows.map((row) => row.map((value) => (value instanceof Date ? value.toISOString() : value))),
      };
    },
    executeRaw: async ({ sql, args }: SqlQuery) => (await client.query(sql, args)).rowCount ?? 0,
    executeScript: async (script: string) => {
      await client.query(script);
    },
    startTransaction: () => Promise.reject(new Error('the schema engine opens no transaction through its adapter')),
    getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
    dispose: () => Promise.resolve(),
  };
}

/** By type id in pg_type: those of the catalog's columns and of _prisma_migrations. */
const columnTypes: Record<number, ColumnType> = {
  16: ColumnTypeEnum.Boolean,
  18: ColumnTypeEnum.Character,
  20: ColumnTypeEnum.Int64,
  21: ColumnTypeEnum.Int32,
  23: ColumnTypeEnum.Int32,
  26: ColumnTypeEnum.Int64,
  1002: ColumnTypeEnum.CharacterArray,
  1005: ColumnTypeEnum.Int32Array,
  1007: ColumnTypeEnum.Int32Array,
  1009: ColumnTypeEnum.TextArray,
  1016: ColumnTypeEnum.Int64Array,
  1028: ColumnTypeEnum.Int64Array,
  1184: ColumnTypeEnum.DateTime,
};
