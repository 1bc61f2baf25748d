import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { sessionBroken, statementDone, type FromPgliteSession } from './pglite-messages.ts';

export interface WireOptions {
  open(): Promise<MessagePort>;
  /** Zero means no limit. Read anew for each statement. */
  statementTimeoutMs(): number;
  onStatementTimeout(): Error;
  onSessionBroken(): Error;
}

/**
 * What `pg` takes for its socket: the same bytes, carried over a message port to the thread that runs PGlite. `pg`
 * sends the next statement only after the last one was answered, so one timer watches them all.
 */
export class PgliteWire extends Duplex {
  readonly #options: WireOptions;
  #port: MessagePort | undefined;
  #statementTimer: NodeJS.Timeout | undefined;
  /** The bytes of an answer come before the word that it is done, so the next statement may be under way by then. */
  #unfinished = 0;

  constructor(options: WireOptions) {
    super();
    this.#options = options;
  }

  connect(): this {
    this.#options.open().then(
      (port) => this.#attach(port),
      (error: Error) => this.destroy(error),
    );
    return this;
  }

  #attach(port: MessagePort): void {
    if (this.destroyed) return port.close();
    this.#port = port;
    port.on('message', (answer: FromPgliteSession) => {
      if (answer === statementDone) this.#finish();
      else if (answer === sessionBroken) this.destroy(this.#options.onSessionBroken());
      else this.push(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength));
    });
    port.on('close', () => this.destroy());
    this.emit('connect');
  }

  override _read(): void {
    // Data is pushed as it comes: answers are bounded by the statement that asked for them.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#send(chunk);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  #send(bytes: Buffer): void {
    this.#port?.postMessage(new Uint8Array(bytes));
    this.#unfinished++;
    const timeoutMs = this.#options.statementTimeoutMs();
    clearTimeout(this.#statementTimer);
    if (timeoutMs > 0) {
      this.#statementTimer = setTimeout(() => this.destroy(this.#options.onStatementTimeout()), timeoutMs);
    }
  }

  #finish(): void {
    this.#unfinished--;
    if (this.#unfinished === 0) clearTimeout(this.#statementTimer);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#statementTimer);
    this.#port?.close();
    done(error);
  }

  // `pg` tunes its socket with these; a message port has nothing to tune.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
