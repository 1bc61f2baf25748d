import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { queueStatements } from '../../../src/db/engines/statement-queue.ts';

interface Connection {
  query(...given: unknown[]): Promise<string>;
  /** Statements that were sent and not answered yet. */
  open: Map<string, { answer: () => void; fail: (error: Error) => void }>;
  sent: string[];
}

/** In place of the database: a connection whose answers the test gives. */
function connect(): Connection {
  const open: Connection['open'] = new Map();
  const sent: string[] = [];
  const query = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      sent.push(text);
      const end = (work: () => void) => (): void => {
        open.delete(text);
        work();
      };
      open.set(text, {
        answer: end(() => resolve(`answer to ${text}`)),
        fail: (error) => end(() => reject(error))(),
      });
    });
  const connection: Connection = { query, open, sent };
  const pool = new EventEmitter();
  queueStatements(pool as unknown as Pool);
  pool.emit('connect', connection);
  return connection;
}

describe('the statements of a connection', () => {
  it('are sent one after the other, in the order given', async () => {
    const connection = connect();
    const results = ['a', 'b', 'c'].map((text) => connection.query(text));
    const steps: string[][] = [];
    for (const text of ['a', 'b', 'c']) {
      await turn();
      steps.push([...connection.open.keys()]);
      connection.open.get(text)?.answer();
    }

    expect(steps).toEqual([['a'], ['b'], ['c']]);
    expect(await Promise.all(results)).toEqual(['answer to a', 'answer to b', 'answer to c']);
  });

  it('are sent after one that failed, which fails for its sender only', async () => {
    const connection = connect();
    const first = connection.query('a');
    const second = connection.query('b');
    connection.open.get('a')?.fail(new Error('division by zero'));
    await expect(first).rejects.toThrow('division by zero');
    await turn();
    connection.open.get('b')?.answer();

    expect(await second).toBe('answer to b');
  });

  it('are sent at once when nothing runs', async () => {
    const connection = connect();
    void connection.query('a');
    expect(connection.sent).toEqual(['a']);
    connection.open.get('a')?.answer();
    await turn();
    void connection.query('b');

    expect(connection.sent).toEqual(['a', 'b']);
  });

  it('that report to a callback are left to pg', () => {
    const connection = connect();
    void connection.query('a');
    void connection.query('b', () => undefined);

    expect(connection.sent).toEqual(['a', 'b']);
  });
});
