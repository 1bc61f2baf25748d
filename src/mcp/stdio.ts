import { Transform } from 'node:stream';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ErrorCode, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from 'pino';

export interface StdioOptions {
  /** Of one message. */
  lineLimitBytes: number;
  logger: Logger;
}

/** Serves until the client closes its end of the pipe, and still answers the requests sent before that. */
export async function serveMcpStdio(server: Server, { lineLimitBytes, logger }: StdioOptions): Promise<void> {
  const lines = new LineLimit(lineLimitBytes, () => {
    const message = `line must be at most ${lineLimitBytes} bytes (got a longer one)`;
    logger.warn(message);
    // The id of the request is not known, so the error carries none.
    void transport.send({ jsonrpc: '2.0', error: { code: ErrorCode.InvalidRequest, message } });
  });
  const transport = new StdioServerTransport(lines);
  const unanswered = new Set<RequestId>();
  let hasEnded = false;
  const closeWhenDone = (): void => {
    if (hasEnded && unanswered.size === 0) void server.close();
  };
  // The SDK calls this one before its own.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target
  transport.onmessage = (message) => {
    if (!('method' in message)) return;
    if ('id' in message) unanswered.add(message.id);
    // A cancelled request gets no answer.
    else if (message.method === 'notifications/cancelled')
      unanswered.delete(message.params?.['requestId'] as RequestId);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!('method' in message) && message.id !== undefined) unanswered.delete(message.id);
    closeWhenDone();
  };
  lines.once('end', () => {
    hasEnded = true;
    closeWhenDone();
  });
  process.stdin.pipe(lines);
  await new Promise<void>((resolve, reject) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target; this is how the SDK tells
    server.onclose = resolve;
    server.connect(transport).catch(reject);
  });
  // Otherwise the open pipe would keep the process alive.
  process.stdin.unpipe(lines).pause();
}

const newline = 0x0a;

/** Passes on whole lines and drops those that are too long, so that a client cannot fill the memory with one. */
class LineLimit extends Transform {
  readonly #limitBytes: number;
  readonly #dropped: () => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limitBytes: number, dropped: () => void) {
    super();
    this.#limitBytes = limitBytes;
    this.#dropped = dropped;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(newline, start) + 1 || chunk.length;
      this.#add(chunk.subarray(start, end));
      start = end;
    }
    done();
  }

  #add(part: Buffer): void {
    const wasWithin = this.#bytes <= this.#limitBytes;
    this.#bytes += part.length;
    const isWithin = this.#bytes <= this.#limitBytes;
    if (isWithin) this.#parts.push(part);
    else this.#parts = [];
    if (wasWithin && !isWithin) this.#dropped();
    if (part.at(-1) !== newline) return;
    if (isWithin) this.push(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
  }
}
