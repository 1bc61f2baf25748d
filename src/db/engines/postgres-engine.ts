import { Pool, type ClientConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { MemoryError } from '../../shared/errors.ts';
import type { Engine } from './engine.ts';
import { PostgresEventChannel } from '../events/event-channel.ts';
import { endSilentConnections, forgiveRollbackOfLostConnections } from './lost-connection.ts';
import { queueStatements } from './statement-queue.ts';

export interface PostgresEngineOptions {
  url: string;
  /** Login that owns the tables, where `url` logs in as one that does not. */
  migrationUrl: string | undefined;
  /** Database to use when a URL names none. */
  name: string;
  poolSize: number;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}

const minimumVersion = 14;
/** Migrations and storage maintenance, one after the other. */
const ownerPoolSize = 2;

export async function openPostgres(options: PostgresEngineOptions): Promise<Engine> {
  const target = readTarget(options.url, options.name);
  // Work of the owner that is under way: an index may take hours to build.
  let unlimited = 0;
  const pool = createPool(options, target, options.poolSize);
  endSilentConnections(pool, () => (unlimited > 0 ? 0 : options.statementTimeoutMs));
  const ownerTarget = readTarget(options.migrationUrl ?? options.url, options.name);
  const ownerPool = options.migrationUrl === undefined ? pool : createPool(options, ownerTarget, ownerPoolSize);
  const close = async (): Promise<void> => {
    await pool.end();
    if (ownerPool !== pool) await ownerPool.end();
  };
  try {
    await checkServer(pool, target);
    if (ownerPool !== pool) await checkServer(ownerPool, ownerTarget);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: 'postgres',
    location: describeTarget(target),
    isNew: false,
    pool,
    ownerPool,
    eventChannel: new PostgresEventChannel(pool, {
      ...target,
      connectionTimeoutMillis: options.connectTimeoutMs,
    }),
    // The server's own limit is set by each transaction for itself, and owner's work sets none.
    withoutStatementTimeout: async (work) => {
      unlimited += 1;
      return work().finally(() => (unlimited -= 1));
    },
    close,
  };
}

/** By the parser of `pg` itself: it knows socket directories and the parameters that a URL may carry. */
function readTarget(url: string, name: string): ClientConfig {
  const { user, ...parsed } = parseIntoClientConfig(url);
  return { ...parsed, ...(user && { user }), database: parsed.database || name };
}

function describeTarget({ user, host, port, database }: ClientConfig): string {
  return `postgres://${user ? `${user}@` : ''}${host ?? 'localhost'}${port ? `:${port}` : ''}/${database}`;
}

/**
 * Nothing is set on the connection: behind a pooler in transaction mode the next statement may run on another one.
 * Each transaction sets time zone, limits, tenant and role for itself. Statements have no names, but for those of round
 * trips, which do without where a pooler loses them.
 */
function createPool(options: PostgresEngineOptions, target: ClientConfig, size: number): Pool {
  const pool = new Pool({
    ...target,
    max: size,
    connectionTimeoutMillis: options.connectTimeoutMs,
    application_name: 'butler-memory',
    keepAlive: true,
  });
  // An idle connection that breaks is replaced at its next use; with no listener it would end the process.
  pool.on('error', () => undefined);
  forgiveRollbackOfLostConnections(pool);
  queueStatements(pool);
  return pool;
}

async function checkServer(pool: Pool, target: ClientConfig): Promise<void> {
  const location = describeTarget(target);
  const { rows } = await pool
    .query<{ version: string }>("SELECT current_setting('server_version_num') AS version")
    .catch((cause: NodeJS.ErrnoException) => {
      throw new MemoryError('STARTUP', `database ${location} cannot be reached: ${describeCause(cause)}`, {
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
function describeCause(cause: NodeJS.ErrnoException): string {
  return cause.message || cause.code || String(cause);
}
