import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory, type MemoryCore } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import { withOwnDatabase } from './own-database.ts';

/** Does the work with a core on a PostgreSQL database of its own, without a model: for what only a server can be asked. */
export async function withOwnCore<T>(work: (core: MemoryCore) => Promise<T>): Promise<T> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined) throw new Error('TEST_DATABASE_URL must be the URL of a PostgreSQL server (got nothing)');
  return withOwnDatabase(url, async (own) => {
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    const env = {
      BUTLER_MEMORY_HOME: home,
      BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing',
      LOG_LEVEL: 'warn',
      DATABASE_URL: own,
    };
    const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
    const core = await createMemory({ config, logger: createLogger(config) });
    try {
      return await work(core);
    } finally {
      await core.close();
      await rm(home, { recursive: true, force: true });
    }
  });
}
