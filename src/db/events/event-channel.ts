import { setTimeout as delay } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { Client, type ClientConfig, type Pool } from 'pg';

/** Carries the word that there are new events between the processes that share a database. */
export interface EventChannel {
  /** Tells the other processes, soon, that events of this tenant were committed. */
  send(tenantId: string): void;
  /** Calls `hear` with each tenant that others sent, and with `undefined` when one may have been missed. */
  listen(hear: (tenantId: string | undefined) => void): void;
  close(): Promise<void>;
}

const channelName = 'butler_memory_events';
/** Commits within this time are announced together. */
const sendGapMs = 20;
const firstRetryMs = 200;
const longestRetryMs = 10_000;

/**
 * LISTEN and NOTIFY of PostgreSQL. A NOTIFY holds a lock of the whole cluster while its transaction commits, so writers
 * that carried one would commit one after the other. It is therefore sent after the commit, in a transaction of its own
 * that waits for no disk, and one for many commits. What is lost with a process that dies in between, or behind a pooler
 * in transaction mode, where LISTEN hears nothing, is covered by the readers, which poll the table.
 */
export class PostgresEventChannel implements EventChannel {
  readonly #pool: Pool;
  readonly #target: ClientConfig;
  /** Our own words come back to us as well, and are not news. */
  readonly #sender = randomBytes(6).toString('hex');
  readonly #closing = new AbortController();
  readonly #unsent = new Set<string>();
  #sending: Promise<void> | undefined;
  #listening: Promise<void> | undefined;
  #client: Client | undefined;

  constructor(pool: Pool, target: ClientConfig) {
    this.#pool = pool;
    this.#target = target;
  }

  send(tenantId: string): void {
    this.#unsent.add(tenantId);
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  async #sendAll(): Promise<void> {
    while (this.#unsent.size > 0) {
      const payloads = [...this.#unsent].map((tenantId) => `${this.#sender} ${tenantId}`);
      this.#unsent.clear();
      await this.#pool.query(notify, [channelName, payloads]).catch(() => undefined);
      await this.#pause(sendGapMs);
    }
  }

  listen(hear: (tenantId: string | undefined) => void): void {
    this.#listening ??= this.#keepListening(hear);
  }

  async #keepListening(hear: (tenantId: string | undefined) => void): Promise<void> {
    let retryMs = firstRetryMs;
    while (!this.#closing.signal.aborted) {
      const began = await this.#listenOnce(hear).catch(() => false);
      retryMs = began ? firstRetryMs : Math.min(retryMs * 2, longestRetryMs);
      await this.#pause(retryMs);
    }
  }

  /** Until the connection ends. True if it was there at all. */
  async #listenOnce(hear: (tenantId: string | undefined) => void): Promise<boolean> {
    const client = new Client({ ...this.#target, application_name: 'butler-memory events', keepAlive: true });
    // Its end follows; with no listener the error would end the process.
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => {
      const [sender, ...tenantId] = payload.split(' ');
      if (sender !== this.#sender) hear(tenantId.join(' '));
    });
    this.#client = client;
    try {
      await client.connect();
      const ended = new Promise((resolve) => client.once('end', resolve));
      await client.query(`LISTEN ${channelName}`);
      hear(undefined);
      await ended;
      return true;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client?.end().catch(() => undefined);
    await this.#listening;
    await this.#sending;
  }
}

const notify = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload) FROM unnest($2::text[]) AS payload`;
