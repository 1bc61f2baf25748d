import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection, PoolClient, Submittable } from 'pg';
import { listErrorCodes } from './database-errors.ts';
import { databaseValue } from './database-value.ts';

/** A statement with its values; `Prisma.Sql` is one. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

type WithClient = <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;

/**
 * Sends statements together and waits once for all of their answers. They have one Sync at their end, so for the
 * database they are one transaction: if one fails, those after it are not run and what those before it did is undone.
 * No statement is run, therefore, whose transaction was not prepared by the ones before it.
 *
 * To read and plan a search takes the database as long as to run it, so a connection keeps the statements that it has
 * met, under names. A pooler that gives each transaction another connection may lose those names: then the
 * statements are sent again without names, and so are all later ones.
 */
export class RoundTrips {
  readonly #withClient: WithClient;
  #keepsStatements = true;

  constructor(withClient: WithClient) {
    this.#withClient = withClient;
  }

  /** The first column of the first row of each statement, as text. */
  async send(statements: readonly Statement[]): Promise<(string | null)[]> {
    const prepared = statements.map(({ text, values }) => ({ text, values: values.map(databaseValue) }));
    const keeps = this.#keepsStatements;
    try {
      return await this.#withClient((client) => submit(client, prepared, keeps));
    } catch (error) {
      if (!keeps || !isLostName(error)) throw error;
      // Nothing has happened: what came before the lost name was undone with it.
      this.#keepsStatements = false;
      return this.send(statements);
    }
  }
}

/** The name is not known to this connection, or known to it from somebody else. */
function isLostName(error: unknown): boolean {
  return listErrorCodes(error).some((code) => code === '26000' || code === '42P05');
}

function submit(
  client: PoolClient,
  statements: readonly PreparedStatement[],
  keeps: boolean,
): Promise<(string | null)[]> {
  return new Promise((resolve, reject) => {
    client.query(new RoundTrip(statements, keeps ? keptBy(client) : null, resolve, reject));
  });
}

/** The names under which a connection keeps statements. One that failed is closed, and this goes with it. */
type KeptStatements = LRUCache<string, true>;

const keptStatements = new WeakMap<PoolClient, KeptStatements>();

/** The largest takes a megabyte of the connection's memory. */
const mostKept = 48;

function keptBy(client: PoolClient): KeptStatements {
  const kept = keptStatements.get(client) ?? new LRUCache<string, true>({ max: mostKept });
  keptStatements.set(client, kept);
  return kept;
}

interface PreparedStatement {
  text: string;
  values: (string | null)[];
}

/** A query of `pg`: writes messages, and handles the answers until the database is ready for the next. */
class RoundTrip implements Submittable {
  readonly #statements: readonly PreparedStatement[];
  readonly #kept: KeptStatements | null;
  readonly #resolve: (answers: (string | null)[]) => void;
  readonly #reject: (error: Error) => void;
  readonly #answers: (string | null)[] = [];
  #row: string | null | undefined;

  constructor(
    statements: readonly PreparedStatement[],
    kept: KeptStatements | null,
    resolve: (answers: (string | null)[]) => void,
    reject: (error: Error) => void,
  ) {
    this.#statements = statements;
    this.#kept = kept;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    for (const { text, values } of this.#statements) {
      const statement = this.#kept === null ? parseOnce(connection, text) : parseAndKeep(connection, text, this.#kept);
      connection.bind({ statement, values }, true);
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

function parseOnce(connection: Connection, text: string): string {
  connection.parse({ name: '', text, types: [] }, true);
  return '';
}

function parseAndKeep(connection: Connection, text: string, kept: KeptStatements): string {
  const name = nameStatement(text);
  if (kept.get(name) === true) return name;
  if (kept.size >= mostKept) evictOldest(connection, kept);
  kept.set(name, true);
  connection.parse({ name, text, types: [] }, true);
  return name;
}

function evictOldest(connection: Connection, kept: KeptStatements): void {
  const [oldest] = kept.rkeys();
  if (oldest === undefined) return;
  kept.delete(oldest);
  connection.close({ type: 'S', name: oldest }, true);
}

/** Texts of some kilobytes each, kept once and not for each connection. */
const names = new LRUCache<string, string>({ max: 128 });

/** Names a statement by its text, so that equal names on one connection mean the same statement. */
function nameStatement(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `butler_${hash('sha256', text).slice(0, 32)}`;
  names.set(text, name);
  return name;
}
