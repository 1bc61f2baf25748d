import type { Duplex } from 'node:stream';
import type { Pool, PoolClient, QueryResult } from 'pg';

/**
 * A lost connection has rolled back already, but callers such as Prisma send ROLLBACK on it
 * anyway; the failure of that would hide the error that says why. So it succeeds.
 */
export function forgiveRollbackOfLostConnections(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    let isLost = false;
    const lose = (): void => void (isLost = true);
    client.on('error', lose);
    client.on('end', lose);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const forgiving = (...given: unknown[]): unknown =>
      isLost && readStatement(given[0]) === 'ROLLBACK' ? Promise.resolve(nothing) : query(...given);
    client.query = forgiving as typeof client.query;
  });
}

/** Beyond what a statement may take: the word that it was ended needs time as well. */
const graceMs = 1000;

/**
 * Ends a connection that brings nothing for longer than a statement may take. A server that hangs or a network that drops
 * packets does not say so, and the query under way would wait until its caller is answered with a timeout.
 */
export function endSilentConnections(pool: Pool, statementTimeoutMs: () => number): void {
  pool.on('connect', (client: PoolClient) => {
    const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => void stream.destroy(connectionFailure());
    const stop = (): void => {
      clearTimeout(timer);
      timer = undefined;
    };
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const watched = (...given: unknown[]): unknown => {
      stop();
      const timeoutMs = statementTimeoutMs();
      if (timeoutMs > 0) timer = setTimeout(end, timeoutMs + graceMs).unref();
      return query(...given);
    };
    client.query = watched as typeof client.query;
    stream.on('data', () => timer?.refresh());
    client.on('drain', stop);
    client.on('end', stop);
  });
}

/** SQLSTATE connection_failure. */
function connectionFailure(): Error {
  return Object.assign(new Error('the connection brought nothing for longer than a statement may take'), {
    code: '08006',
  });
}

function readStatement(given: unknown): unknown {
  return typeof given === 'object' && given !== null && 'text' in given ? given.text : given;
}

const nothing: QueryResult = { command: 'ROLLBACK', rowCount: 0, oid: 0, fields: [], rows: [] };
