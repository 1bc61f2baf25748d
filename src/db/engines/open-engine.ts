import type { DatabaseOptions, Engine } from './engine.ts';
import { openPglite } from './pglite-engine.ts';
import { openPostgres } from './postgres-engine.ts';

/** The embedded database, unless the configuration names a PostgreSQL server. */
export function openEngine(options: DatabaseOptions): Promise<Engine> {
  return options.url === undefined ? openPglite(options) : openPostgres({ ...options, url: options.url });
}
