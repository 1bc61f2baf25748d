import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/schema.ts';

/** The defaults, quiet and without a model; `env` overrides as the environment would. */
export function testConfig(env: Record<string, string> = {}): Config {
  const defaults = { BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing', LOG_LEVEL: 'silent' };
  return loadConfig({ env: { ...defaults, ...env }, workingDirectory: '/', homeDirectory: '/nowhere' }).config;
}
