import type { Pool, PoolClient } from 'pg';

/**
 * Makes each connection of a pool execute one statement at a time, in the order given. Prisma sends the parts of a nested
 * read at once on the connection of its transaction, and so does `Promise.all` inside a transaction. `pg` queues them too,
 * but warns that version 9 will refuse to.
 */
export function queueStatements(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    let last: Promise<void> | undefined;
    const inTurn = (...given: unknown[]): unknown => {
      if (!answersWithPromise(given)) return query(...given);
      // At once if nothing runs: a turn of the event loop for each statement would add up.
      const result = (last === undefined ? query(...given) : last.then(() => query(...given))) as Promise<unknown>;
      const free = (): void => {
        if (last === done) last = undefined;
      };
      // The sender of the statement handles its failure.
      const done: Promise<void> = result.then(free, free);
      last = done;
      return result;
    };
    client.query = inTurn as typeof client.query;
  });
}

/** Without a callback. An object with a submit method, such as a round trip, reports to its own callbacks instead. */
function answersWithPromise(given: readonly unknown[]): boolean {
  const [first] = given;
  const isSubmittable = typeof first === 'object' && first !== null && 'submit' in first;
  return !isSubmittable && typeof given.at(-1) !== 'function';
}
