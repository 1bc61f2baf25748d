import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../../src/config/schema.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import { consolidateWith } from '../../src/lifecycle/consolidation/consolidate.ts';
import type { ConsolidationEngine } from '../../src/lifecycle/consolidation/engine.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createCaches } from '../../src/memory/caches.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { newRequestContext } from '../../src/shared/request-context.ts';
import { readInput } from './run-typescript.ts';

/** Consolidates until nothing is left, with an engine that makes one fact of each run, which cites all of its episodes. */
export interface ConsolidationWorkerInput {
  options: DatabaseOptions;
  tenantId: string;
  /** Given and not loaded: a process that lives for a second must start fast. */
  config: Config;
}

const { options, tenantId, config } = readInput() as ConsolidationWorkerInput;
const logger = createLogger(config);
const context: MemoryContext = {
  config,
  logger,
  db: (await openDatabase(options)).forTenant(tenantId),
  embedder: await createEmbedder({
    ...config.memory.embedding,
    model: 'none',
    dimensions: 384,
    maxTextsInFlight: 1,
    downloadDirectory: '',
    logger,
  }),
  vault: createVault(config, logger),
  caches: createCaches(),
  now: () => new Date(),
  principal: { tenantId, butler: null, role: 'admin' },
  requestContext: newRequestContext(),
};

const engine: ConsolidationEngine = {
  name: 'command',
  extract: async (_context, { runId, episodes }) => {
    say('claimed');
    const evidence = episodes.map(({ id, content }) => ({ episode_id: id, quote: content }));
    return { output: { new_facts: [{ subject: runId, predicate: 'read', content: `run ${runId}`, evidence }] } };
  },
};

say('ready');
for (;;) {
  const { episodes } = await consolidateWith(context, engine, { progress: () => say('applied') });
  const where = { tenantId, consolidationStatus: 'pending' };
  if ((episodes ?? 0) > 0) continue;
  if ((await context.db.client.episode.count({ where })) === 0) break;
  // Until leases of the killed have ended: to ask without a pause would take the time of who works.
  await wait(50);
}
say('finished');
await context.db.database.close();
await context.embedder.close();

/** At once and past every buffer: what was said must have been said when the kill comes. */
function say(message: string): void {
  writeSync(1, `${message}\n`);
}
