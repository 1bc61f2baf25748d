import type { Connection, PoolClient, Submittable } from 'pg';
import { databaseValue } from './database-value.ts';

/** A statement with its values; `Prisma.Sql` is one. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Sends statements together and waits once for all of their answers. They have one Sync at their end, so for the
 * database they are one transaction: if one fails, those after it are not run and what those before it did is undone.
 * No statement is run, therefore, whose transaction was not prepared by the ones before it.
 *
 * Nothing has a name, so the next round trip may be on another connection, as behind a pooler. Gives the first column of
 * the first row of each statement, as text.
 */
export function sendTogether(client: PoolClient, statements: readonly Statement[]): Promise<(string | null)[]> {
  const prepared = statements.map(({ text, values }) => ({ text, values: values.map(databaseValue) }));
  return new Promise((resolve, reject) => {
    client.query(new RoundTrip(prepared, resolve, reject));
  });
}

interface PreparedStatement {
  text: string;
  values: (string | null)[];
}

/** What `pg` calls a query: it writes messages, and is told of the answers until the database is ready for the next. */
class RoundTrip implements Submittable {
  readonly #statements: readonly PreparedStatement[];
  readonly #resolve: (answers: (string | null)[]) => void;
  readonly #reject: (error: Error) => void;
  readonly #answers: (string | null)[] = [];
  #row: string | null | undefined;

  constructor(
    statements: readonly PreparedStatement[],
    resolve: (answers: (string | null)[]) => void,
    reject: (error: Error) => void,
  ) {
    this.#statements = statements;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    for (const { text, values } of this.#statements) {
      connection.parse({ name: '', text, types: [] }, true);
      connection.bind({ values }, true);
      connection.execute({}, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#row === undefined) this.#row = fields[0] ?? null;
  }

  handleCommandComplete(): void {
    this.#answers.push(this.#row ?? null);
    this.#row = undefined;
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#answers);
  }

  handleError(error: Error): void {
    this.#reject(error);
  }
}
