import { existsSync } from 'node:fs';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { unpackDirectory } from './directory-archive.ts';
import {
  sessionBroken,
  statementDone,
  type FromPgliteWorker,
  type PgliteWorkerData,
  type ToPgliteWorker,
} from './pglite-messages.ts';

/**
 * PGlite runs in whatever thread calls it, and a query of two seconds would stop an event loop for two seconds: so it
 * lives here. The wire protocol goes in and out as bytes, one message port for each connection.
 */
const terminate = 'X'.charCodeAt(0);

/** The end of every answer but that to COPY FROM STDIN: ReadyForQuery, then one byte for the state of the transaction. */
const readyForQuery = Buffer.from('Z\0\0\0\u0005', 'latin1');
const endLength = readyForQuery.length + 1;
const outsideTransaction = 'I'.charCodeAt(0);

/**
 * A statement that runs out of stack (json nested ten thousand deep) comes back with half an answer, or with an
 * internal error, SQLSTATE class XX; what it left in memory must not reach the disk. A zero byte cannot stand in text,
 * so no stored text looks like this.
 */
const internalError = Buffer.from('\0CXX', 'latin1');

const main = parentPort as MessagePort;
const { directory, template } = workerData as PgliteWorkerData;

const report = (message: FromPgliteWorker): void => main.postMessage(message);
let work: Promise<void> = Promise.resolve();

/** PGlite clears all of it at each start and never gives it back; its default is 128 MB. */
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'];

try {
  if (template !== null && !existsSync(directory)) unpackDirectory(template, directory);
  const database = await PGlite.create(directory, { extensions: { vector }, startParams });
  main.on('message', (message: ToPgliteWorker) => {
    if (message.kind === 'connect') serve(database, message.port);
    else work = work.then(() => database.close()).finally(endThread);
  });
  report({ kind: 'ready' });
} catch (error) {
  report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

let current: MessagePort | undefined;

/**
 * There is one session behind all connections. What an earlier one left (an open transaction, settings) is cleared
 * before the next is served, and what it still sends by then is not heard: ports have no order among each other.
 */
function serve(database: PGlite, port: MessagePort): void {
  current?.close();
  current = port;
  work = work.then(() => resetSession(database)).catch(endThread);
  port.on('message', (bytes: Uint8Array) => {
    work = work.then(() => execute(database, port, bytes)).catch(endThread);
  });
}

async function resetSession(database: PGlite): Promise<void> {
  await database.exec('ROLLBACK');
  await database.exec('DISCARD ALL');
}

async function execute(database: PGlite, port: MessagePort, bytes: Uint8Array): Promise<void> {
  if (port !== current) return;
  if (bytes[0] === terminate) return port.close();
  let end = Buffer.alloc(0);
  let isBroken = false;
  await database.execProtocolRawStream(bytes, {
    onRawData: (data) => {
      // The bytes lie in WebAssembly memory that the next message overwrites.
      const copy = data.slice();
      const answer = Buffer.from(copy.buffer);
      end = Buffer.concat([end, answer.subarray(-endLength)]).subarray(-endLength);
      isBroken ||= answer.includes(internalError);
      port.postMessage(copy, [copy.buffer]);
    },
  });
  const isDone = !isBroken && end.includes(readyForQuery);
  port.postMessage(isDone ? statementDone : sessionBroken);
  if (isDone && end.at(-1) === outsideTransaction) await checkpointIfDue(database);
}

/**
 * PGlite has no checkpointer: its log would grow until the nightly job, and a start after a crash replays all of it, some
 * 150 MB a second. The log is measured between transactions, once in so many statements: a server's job queue asks all the
 * time, so also after a burst.
 */
const logLimitBytes = 32 * 1024 * 1024;
const statementsBetweenMeasurements = 32;
let statementsSinceMeasurement = 0;

async function checkpointIfDue(database: PGlite): Promise<void> {
  if (++statementsSinceMeasurement < statementsBetweenMeasurements) return;
  statementsSinceMeasurement = 0;
  const { rows } = await database.query<{ isDue: boolean }>(
    'SELECT pg_current_wal_insert_lsn() - redo_lsn > $1 AS "isDue" FROM pg_control_checkpoint()',
    [logLimitBytes],
  );
  // A full disk, for one, makes it fail; statements that write then say so, and the next measurement tries again.
  if (rows[0]?.isDue === true) await database.exec('CHECKPOINT').catch(() => undefined);
}

/** After an error that no statement can be answered with. What was committed is in the write-ahead log. */
function endThread(): void {
  process.exit();
}
