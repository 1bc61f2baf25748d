import type { Pool } from 'pg';
import type { EventChannel } from '../events/event-channel.ts';

export type EngineName = 'pglite' | 'postgres';

export interface DatabaseOptions {
  home: string;
  name: string;
  url: string | undefined;
  migrationUrl: string | undefined;
  poolSize: number;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  transactionTimeoutMs: number;
}

/** Where the bytes go. Everything above uses both engines through `pg` pools and cannot tell them apart. */
export interface Engine {
  readonly name: EngineName;
  /** For people: where the data is, with no password in it. */
  readonly location: string;
  /** Whether there was no database before, and this one was created. */
  readonly isNew: boolean;
  /** The server's own connections. */
  readonly pool: Pool;
  /** Connections of the login that owns the tables: migrations and storage maintenance, nothing else. */
  readonly ownerPool: Pool;
  /** Runs storage work (VACUUM, migrations) that may rightly take longer than a statement is allowed to. */
  withoutStatementTimeout<T>(work: () => Promise<T>): Promise<T>;
  /** To the other processes on the same data. Undefined where there can be none. */
  readonly eventChannel: EventChannel | undefined;
  close(): Promise<void>;
}
