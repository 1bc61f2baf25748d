import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory, type MemoryCore } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';

/** Runs the work with a core on an embedded database in a temporary folder, with the default model. */
export async function withEmbeddedCore<T>(
  work: (core: MemoryCore) => Promise<T>,
  options: { now?: () => Date } = {},
): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn' };
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config), ...options });
  try {
    await core.embedder.load();
    return await work(core);
  } finally {
    await core.close();
    await rm(home, { recursive: true, force: true });
  }
}
