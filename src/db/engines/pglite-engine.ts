import { once } from 'node:events';
import { existsSync, statfsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { dirname, join } from 'node:path';
import { Pool } from 'pg';
import { MemoryError } from '../../shared/errors.ts';
import { startWorkerThread } from '../../shared/worker-thread.ts';
import { findTemplate } from './database-template.ts';
import { acquireDirectoryLock } from './directory-lock.ts';
import type { Engine } from './engine.ts';
import { forgiveRollbackOfLostConnections } from './lost-connection.ts';
import type { FromPgliteWorker, PgliteWorkerData, ToPgliteWorker } from './pglite-messages.ts';
import { PgliteWire } from './pglite-wire.ts';
import { queueStatements } from './statement-queue.ts';

export interface PgliteEngineOptions {
  home: string;
  name: string;
  statementTimeoutMs: number;
}

/**
 * The embedded default: PGlite on disk, in a thread of its own, behind one `pg` connection. One, because PGlite is one
 * session, and several clients would share its settings and transactions.
 */
export async function openPglite(options: PgliteEngineOptions): Promise<Engine> {
  const directory = join(options.home, options.name);
  const lock = acquireDirectoryLock(`${directory}.lock`, directory);
  const isNew = !existsSync(join(directory, 'PG_VERSION'));
  const thread = new PgliteThread(directory);
  let timeoutMs = options.statementTimeoutMs;
  const wireOptions = {
    open: () => thread.connect(),
    statementTimeoutMs: () => timeoutMs,
    onStatementTimeout: () => thread.kill(statementTimeout(timeoutMs)),
    onSessionBroken: () => thread.kill(crashShutdown()),
  };
  const pool = new Pool({
    max: 1,
    user: 'postgres',
    database: 'postgres',
    stream: () => new PgliteWire(wireOptions),
  });
  // The query that was under way has the error already; a pool with no listener would end the process.
  pool.on('error', () => undefined);
  forgiveRollbackOfLostConnections(pool);
  queueStatements(pool);
  try {
    await thread.start();
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    name: 'pglite',
    location: directory,
    isNew,
    pool,
    ownerPool: pool,
    eventChannel: undefined,
    withoutStatementTimeout: async (work) => {
      timeoutMs = 0;
      return work().finally(() => (timeoutMs = options.statementTimeoutMs));
    },
    close: async () => {
      await pool.end();
      await thread.close();
      lock.release();
    },
  };
}

/** SQLSTATE query_canceled, as PostgreSQL itself reports its statement_timeout. */
function statementTimeout(timeoutMs: number): Error {
  return Object.assign(new Error(`statement exceeded ${timeoutMs} ms and was ended`), { code: '57014' });
}

/** SQLSTATE crash_shutdown, as PostgreSQL reports it to the sessions beside one that crashed. */
function crashShutdown(): Error {
  return Object.assign(new Error('the embedded database broke in a statement and was restarted'), { code: '57P02' });
}

let program: Promise<unknown> | undefined;

/**
 * V8 shares compiled WebAssembly between threads by its bytes, as long as one of them holds it. A thread that ends would
 * take it along, and the next one compile it anew: most of the time of a restart. So this one holds it too, once the first
 * thread has compiled it. Nobody waits for that, and without it all is only slower.
 */
function keepCompiled(): void {
  const file = join(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')), 'pglite.wasm');
  program ??= readFile(file)
    .then((bytes) => WebAssembly.compile(bytes))
    .catch(() => undefined);
}

/** A segment of the write-ahead log: with less than this PGlite cannot start, and does not say why. */
const segmentBytes = 16 * 1024 ** 2;

function isDiskFull(directory: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(directory));
  return bavail * bsize < segmentBytes;
}

class PgliteThread {
  readonly #directory: string;
  #worker: Promise<Worker> | undefined;
  #running: Worker | undefined;
  #hasOpened = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async start(): Promise<Worker> {
    const starting = (this.#worker ??= this.#open());
    return starting.catch((error: unknown) => {
      // Not at once: all that wait in the pool come next, and share this failure instead of an attempt each.
      setImmediate(() => {
        if (this.#worker === starting) this.#worker = undefined;
      });
      throw error;
    });
  }

  async #open(): Promise<Worker> {
    const directory = this.#directory;
    const template = existsSync(directory) ? null : await findTemplate();
    const worker = startWorkerThread(import.meta.url, 'pglite-worker', {
      directory,
      template,
    } satisfies PgliteWorkerData);
    const [message] = (await Promise.race([
      once(worker, 'message'),
      once(worker, 'exit').then(([code]) => [{ kind: 'failed', reason: `its thread ended with code ${code}` }]),
    ])) as [FromPgliteWorker];
    if (message.kind === 'failed') {
      await worker.terminate();
      throw this.#cannotOpen(message.reason);
    }
    keepCompiled();
    this.#hasOpened = true;
    this.#running = worker;
    worker.on('error', () => undefined); // Its exit follows.
    worker.once('exit', () => this.#forget(worker));
    return worker;
  }

  /**
   * The log names the directory, the error does not, because callers see it. Errors of PostgreSQL, as Prisma would wrap others:
   * SQLSTATE disk_full and cannot_connect_now.
   */
  #cannotOpen(reason: string): Error {
    const message = `embedded database in ${this.#directory} cannot be opened: ${reason}`;
    if (isDiskFull(this.#directory)) return Object.assign(new Error(message), { code: '53100' });
    if (this.#hasOpened) return Object.assign(new Error(message), { code: '57P03' });
    return new MemoryError('STARTUP', message, {
      hint: 'docs/operations.md says what the embedded database survives and how to restore it.',
    });
  }

  /** A thread that ended by itself took its connections with it. The next one starts another. */
  #forget(worker: Worker): void {
    if (this.#running !== worker) return;
    this.#running = undefined;
    this.#worker = undefined;
  }

  async connect(): Promise<MessagePort> {
    const worker = await this.start();
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ kind: 'connect', port: port2 } satisfies ToPgliteWorker, [port2]);
    return port1;
  }

  /**
   * PGlite ignores statement_timeout and cannot be interrupted: the only way to end a statement is to end its thread.
   * What was committed is in the write-ahead log, as after a kill of the process, and the next connection recovers it.
   */
  kill(reason: Error): Error {
    const ending = this.#running;
    if (ending === undefined) return reason;
    this.#running = undefined;
    this.#worker = ending.terminate().then(() => this.#open());
    this.#worker.catch(() => undefined); // The next connection reports it.
    return reason;
  }

  async close(): Promise<void> {
    const worker = await this.#worker?.catch(() => undefined);
    if (worker === undefined || worker !== this.#running) return;
    worker.postMessage({ kind: 'close' } satisfies ToPgliteWorker);
    await once(worker, 'exit');
  }
}
