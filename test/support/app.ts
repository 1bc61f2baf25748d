import { createApp, type App } from '../../src/http/app.ts';
import { embedderOptions, type MemoryCore } from '../../src/create-memory.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { createCaches } from '../../src/memory/caches.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { testConfig } from './config.ts';
import { takeTestDatabase } from './reused-database.ts';

export interface TestApp {
  readonly app: App;
  readonly core: MemoryCore;
  /** What `context.now()` says; set it to move through days. */
  clock: { now: Date };
  close(): Promise<void>;
}

/** The whole server but for the port: a database of its own, the hashing embedder and a clock that stands still. */
export async function createTestApp(config = testConfig(), logger = createLogger(config)): Promise<TestApp> {
  const { database, drop } = await takeTestDatabase();
  const clock = { now: new Date('2026-03-01T12:00:00.000Z') };
  const embedder = await createEmbedder(embedderOptions(config, logger));
  const vault = createVault(config, logger);
  const core: MemoryCore = {
    config,
    logger,
    db: database,
    embedder,
    vault,
    caches: createCaches(),
    now: () => clock.now,
    close: async () => undefined,
  };
  const app = createApp(core);
  return {
    app,
    core,
    clock,
    close: async () => {
      await app.stop();
      await embedder.close();
      await drop();
    },
  };
}

/** The same where every request must say by its token who asks. */
export function createGuardedApp(config = testConfig()): Promise<TestApp> {
  return createTestApp({ ...config, auth: { ...config.auth, mode: 'required' } });
}
