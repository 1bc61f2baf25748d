import { writeSync } from 'node:fs';
import { openDatabase } from '../../src/db/database.ts';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import type { Embedder } from '../../src/embedding/embedder.ts';
import { embedderOptions } from '../../src/create-memory.ts';
import { sweepEmbeddings } from '../../src/lifecycle/reembed.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { createCaches } from '../../src/memory/caches.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { newRequestContext } from '../../src/shared/request-context.ts';
import { testConfig } from './config.ts';
import { readInput } from './run-typescript.ts';

/** Re-embeds with vectors of so many dimensions until its model answers no more, and says how far it came meanwhile. */
export interface ReembedChildInput {
  options: DatabaseOptions;
  tenantId: string;
  dimensions: number;
  batches: number;
}

const { options, tenantId, dimensions, batches } = readInput() as ReembedChildInput;
const config = testConfig();
const logger = createLogger(config, 'stderr');
const embedder = await createEmbedder({ ...embedderOptions(config, logger), dimensions });
const db = await openDatabase(options);
let asked = 0;
const tiring: Embedder = {
  model: embedder.model,
  load: () => embedder.load(),
  status: () => embedder.status(),
  embed: (texts) => (++asked > batches ? new Promise(() => undefined) : embedder.embed(texts)),
  embedQuery: (text) => embedder.embedQuery(text),
  findFor: (model) => embedder.findFor(model),
  close: () => embedder.close(),
};
const principal = { tenantId, butler: null, role: 'admin' } as const;
const now = (): Date => new Date();
// Something has to keep the process alive while it waits for the model.
setInterval(() => undefined, 60_000);
await sweepEmbeddings(
  {
    db: db.forTenant(tenantId),
    config,
    logger,
    vault: createVault(config, logger),
    caches: createCaches(),
    embedder: tiring,
    principal,
    now,
    requestContext: newRequestContext(),
  },
  { dryRun: false, progress: (done, total) => writeSync(1, `${JSON.stringify({ done, total })}\n`) },
);
