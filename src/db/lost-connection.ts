import type { Pool, PoolClient, QueryResult } from 'pg';

/**
 * A lost connection has rolled back already, but whoever meets the error sends ROLLBACK to it all the same, as Prisma
 * does; the failure of that would hide the error that says why. So it succeeds.
 */
export function forgiveRollbackOfLostConnections(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    let isLost = false;
    const lose = (): void => void (isLost = true);
    client.on('error', lose);
    client.on('end', lose);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const forgiving = (...given: unknown[]): unknown =>
      isLost && textOf(given[0]) === 'ROLLBACK' ? Promise.resolve(nothing) : query(...given);
    client.query = forgiving as typeof client.query;
  });
}

function textOf(given: unknown): unknown {
  return typeof given === 'object' && given !== null && 'text' in given ? given.text : given;
}

const nothing: QueryResult = { command: 'ROLLBACK', rowCount: 0, oid: 0, fields: [], rows: [] };
