import type { Logger } from 'pino';
import { join } from 'node:path';
import { beginMemory, databaseOptions, type MemoryBeginning } from './begin-memory.ts';
import type { Config } from './config/schema.ts';
import { listErrorCodes } from './db/database-errors.ts';
import { openDatabase, type Database } from './db/database.ts';
import { migrate, type MigrationReport } from './db/migrate.ts';
import { alignVectorDimensions } from './db/vector-dimensions.ts';
import { createEmbedder } from './embedding/create-embedder.ts';
import { createCrossEncoder, type CrossEncoderOptions } from './embedding/cross-encoder.ts';
import type { Embedder } from './embedding/embedder.ts';
import { createCaches, type Caches } from './memory/caches.ts';
import { createTenantContext } from './memory/context.ts';
import { findTenantsToRekey, rekeyFacts } from './memory/facts/rekey.ts';
import type { Reranker } from './embedding/reranker.ts';
import { MemoryError } from './shared/errors.ts';
import { requireMasterKeys, type Vault } from './encryption/vault.ts';
import { installQueue } from '../jobs/queue.ts';

/** The core without any door: what `createApp` serves and what a host butler embeds. */
export interface MemoryCore {
  readonly config: Config;
  readonly logger: Logger;
  readonly db: Database;
  readonly embedder: Embedder;
  /** Only where the configuration asks for it. */
  readonly reranker?: Reranker | undefined;
  readonly vault: Vault;
  readonly caches: Caches;
  readonly now: () => Date;
  close(): Promise<void>;
}

export interface MemoryCoreOptions {
  config: Config;
  logger: Logger;
  now?: () => Date;
  /** Where the caller has begun already, to do something else meanwhile. */
  beginning?: MemoryBeginning;
}

/** Opens and migrates the database. The model is not loaded yet: call `embedder.load()` once there is time for it. */
export async function createMemory({
  config,
  logger,
  now = () => new Date(),
  beginning = beginMemory(config, logger),
}: MemoryCoreOptions): Promise<MemoryCore> {
  const { vault } = beginning;
  const db = await openDatabase(databaseOptions(config), beginning.engine);
  try {
    const report = await prepareDatabase(db, config);
    await requireMasterKeys(db, vault);
    if (db.isNew) logger.info({ location: db.location }, 'database created');
    else if (report.applied.length > 0) logger.info({ applied: report.applied }, 'database migrated');
    const embedder = await createEmbedder(embedderOptions(config, logger));
    const reranker =
      config.memory.retrieval.rerank === 'cross-encoder'
        ? await createCrossEncoder(rerankerOptions(config, logger))
        : undefined;
    const core: MemoryCore = {
      config,
      logger,
      db,
      embedder,
      reranker,
      vault,
      caches: createCaches(),
      now,
      close: async () => {
        await embedder.close();
        await reranker?.close();
        await db.close();
      },
    };
    if (!db.isNew) await rekeyTenants(core);
    return core;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Before anything is written: a write under a new key would not find the facts that have the old one. */
async function rekeyTenants(core: MemoryCore): Promise<void> {
  for (const tenantId of await findTenantsToRekey(core.db)) {
    const rekeyed = await rekeyFacts(createTenantContext(core, tenantId));
    if (rekeyed > 0) core.logger.info({ tenantId, rekeyed }, 'facts have the keys of a new lexicon');
  }
}

/** All that the tables need before the server may use them, as their owner. */
export async function prepareDatabase(db: Database, config: Config): Promise<MigrationReport> {
  try {
    const report = await migrate(db);
    await alignVectorDimensions(db, config.memory.embeddingDimensions);
    await installQueue(db);
    return report;
  } catch (error) {
    throw listErrorCodes(error).includes(insufficientPrivilege) ? mayNotPrepare(db, error) : error;
  }
}

const insufficientPrivilege = '42501';

function mayNotPrepare({ location }: Database, cause: unknown): MemoryError {
  return new MemoryError('STARTUP', `the login of ${location} does not own the tables and may not prepare them`, {
    cause,
    hint: 'Set MIGRATION_DATABASE_URL to the login that owns them.',
  });
}

export function embedderOptions({ butler, memory }: Config, logger: Logger): Parameters<typeof createEmbedder>[0] {
  return {
    provider: memory.embedding.provider,
    model: memory.embeddingModel,
    dtype: memory.embedding.dtype,
    dimensions: memory.embeddingDimensions,
    threads: memory.embedding.threads,
    queryCacheEntries: memory.embedding.queryCacheEntries,
    // A query waits for at most so many texts of others; more in flight are no faster.
    maxTextsInFlight: 2,
    allowDownload: memory.embedding.allowDownload,
    ownModelsDirectory: memory.embedding.modelsDirectory,
    downloadDirectory: join(butler.home, 'models'),
    logger,
  };
}

/** With the threads, directories and leave to download of the embedding model. */
function rerankerOptions(config: Config, logger: Logger): CrossEncoderOptions {
  const { model, dtype } = config.memory.retrieval.crossEncoder;
  return { ...embedderOptions(config, logger), model, dtype };
}
