import type { Logger } from 'pino';
import type { Config } from './config/schema.ts';
import type { DatabaseOptions, Engine } from './db/engines/engine.ts';
import { openEngine } from './db/engines/open-engine.ts';
import { createVault, type Vault } from './encryption/vault.ts';

/** What createMemory begins with. This file imports little: the rest is loaded while the embedded database starts. */
export interface MemoryBeginning {
  vault: Vault;
  engine: Promise<Engine>;
}

export function beginMemory(config: Config, logger: Logger): MemoryBeginning {
  // Before the database is touched: a server that may not start leaves no trace.
  const vault = createVault(config, logger);
  const engine = openEngine(databaseOptions(config));
  engine.catch(() => undefined); // createMemory awaits it.
  return { vault, engine };
}

export function databaseOptions({ butler, db }: Config): DatabaseOptions {
  return {
    home: butler.home,
    name: db.name,
    url: db.url,
    migrationUrl: db.migrationUrl,
    poolSize: db.poolSize,
    connectTimeoutMs: db.connectTimeoutMs,
    statementTimeoutMs: db.statementTimeoutMs,
    transactionTimeoutMs: db.transactionTimeoutMs,
  };
}
