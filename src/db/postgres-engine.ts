import { Pool } from 'pg';
import { MemoryError } from '../errors.ts';
import type { Engine } from './engine.ts';
import { forgiveRollbackOfLostConnections } from './lost-connection.ts';

export interface PostgresEngineOptions {
  url: string;
  /** Login that owns the tables, where `url` logs in as one that does not. */
  migrationUrl: string | undefined;
  /** Database to use when a URL names none. */
  name: string;
  poolSize: number;
  connectTimeoutMs: number;
}

const minimumVersion = 14;

export async function openPostgres(options: PostgresEngineOptions): Promise<Engine> {
  const pool = createPool(options, options.url, options.poolSize);
  const ownerPool = options.migrationUrl === undefined ? pool : createPool(options, options.migrationUrl, 2);
  const close = async (): Promise<void> => {
    await pool.end();
    if (ownerPool !== pool) await ownerPool.end();
  };
  try {
    await checkServer(pool);
    if (ownerPool !== pool) await checkServer(ownerPool);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: 'postgres',
    location: describeUrl(withDatabase(options.url, options.name)),
    pool,
    ownerPool,
    // The limit is set by each transaction for itself, and owner's work sets none.
    withoutStatementTimeout: (work) => work(),
    close,
  };
}

/**
 * Nothing is set on the connection: behind a pooler in transaction mode the next statement may run on another one.
 * Each transaction sets time zone, limits, tenant and role for itself, and no prepared statement has a name.
 */
function createPool(options: PostgresEngineOptions, url: string, size: number): Pool {
  const pool = new Pool({
    connectionString: withDatabase(url, options.name),
    max: size,
    connectionTimeoutMillis: options.connectTimeoutMs,
    application_name: 'butler-memory',
    keepAlive: true,
  });
  // An idle connection that breaks is replaced at its next use; with no listener it would end the process.
  pool.on('error', () => undefined);
  forgiveRollbackOfLostConnections(pool);
  return pool;
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  if (parsed.pathname === '' || parsed.pathname === '/') parsed.pathname = `/${name}`;
  return parsed.toString();
}

export function describeUrl(url: string): string {
  const parsed = new URL(url);
  return `${parsed.protocol}//${parsed.username}${parsed.username ? '@' : ''}${parsed.host}${parsed.pathname}`;
}

async function checkServer(pool: Pool): Promise<void> {
  const location = describeUrl(pool.options.connectionString ?? '');
  const { rows } = await pool
    .query<{ version: string }>("SELECT current_setting('server_version_num') AS version")
    .catch((cause: NodeJS.ErrnoException) => {
      throw new MemoryError('STARTUP', `database ${location} cannot be reached: ${reasonOf(cause)}`, {
        cause,
        hint: 'Check DATABASE_URL, or unset it to use the embedded database.',
      });
    });
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  if (major < minimumVersion) {
    throw new MemoryError(
      'STARTUP',
      `database ${location} is PostgreSQL ${major}: ${minimumVersion} or newer is needed`,
    );
  }
}

/** A refused connection to a name with two addresses comes as an AggregateError with an empty message. */
function reasonOf(cause: NodeJS.ErrnoException): string {
  return cause.message || cause.code || String(cause);
}
