// node dist/bench/fill.js <database URL> <rows>: a database to measure again and again, as filling one takes minutes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../src/http/app.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory } from '../src/create-memory.ts';
import { createLogger } from '../src/shared/logger.ts';
import { createFiller } from './rows.ts';

const [url, rows] = process.argv.slice(2);
if (url === undefined || !(Number(rows) > 0)) throw new Error('usage: node dist/bench/fill.js <database URL> <rows>');

const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn', DATABASE_URL: url };
const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
const core = await createMemory({ config, logger: createLogger(config) });
try {
  await core.embedder.load();
  const filler = await createFiller(createApp(core).createContext().memory);
  await filler.fill(0, Number(rows));
} finally {
  await core.close();
  await rm(home, { recursive: true, force: true });
}
