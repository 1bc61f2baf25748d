import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { statementDone, type FromPgliteWorker, type PgliteWorkerData, type ToPgliteWorker } from './pglite-messages.ts';

/**
 * PGlite runs in whatever thread calls it, and a query of two seconds would stop an event loop for two seconds: so it
 * lives here. The wire protocol goes in and out as bytes, one message port for each connection.
 */
const terminate = 'X'.charCodeAt(0);
const main = parentPort as MessagePort;
const { directory } = workerData as PgliteWorkerData;

const report = (message: FromPgliteWorker): void => main.postMessage(message);
let work: Promise<void> = Promise.resolve();

try {
  const database = await PGlite.create(directory, { extensions: { vector } });
  main.on('message', (message: ToPgliteWorker) => {
    if (message.kind === 'connect') serve(database, message.port);
    else work = work.then(() => database.close()).then(() => main.close(), fail);
  });
  report({ kind: 'ready' });
} catch (error) {
  fail(error);
}

let current: MessagePort | undefined;

/**
 * There is one session behind all connections. What an earlier one left (an open transaction, settings) is cleared
 * before the next is served, and what it still sends by then is not heard: ports have no order among each other.
 */
function serve(database: PGlite, port: MessagePort): void {
  current?.close();
  current = port;
  work = work.then(() => resetSession(database)).catch(fail);
  port.on('message', (bytes: Uint8Array) => {
    work = work.then(() => execute(database, port, bytes)).catch(fail);
  });
}

async function resetSession(database: PGlite): Promise<void> {
  await database.exec('ROLLBACK');
  await database.exec('DISCARD ALL');
}

async function execute(database: PGlite, port: MessagePort, bytes: Uint8Array): Promise<void> {
  if (port !== current) return;
  if (bytes[0] === terminate) return port.close();
  await database.execProtocolRawStream(bytes, {
    onRawData: (data) => {
      // The bytes lie in WebAssembly memory that the next message overwrites.
      const copy = data.slice();
      port.postMessage(copy, [copy.buffer]);
    },
  });
  port.postMessage(statementDone);
}

function fail(error: unknown): void {
  report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}
