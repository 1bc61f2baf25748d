import type { MessagePort } from 'node:worker_threads';

/** What the main thread and the PGlite worker say to each other, beside the wire protocol on the ports. */
export interface PgliteWorkerData {
  directory: string;
  /** What a new directory is unpacked from, instead of being created by PGlite. */
  template: string | null;
}

export type ToPgliteWorker = { kind: 'connect'; port: MessagePort } | { kind: 'close' };

export type FromPgliteWorker = { kind: 'ready' } | { kind: 'failed'; reason: string };

/** On a connection's port, the worker says this after the last bytes of its answer. */
export const statementDone = null;
/** Instead of that: the statement left the session in a state that nothing more may be asked of. */
export const sessionBroken = 'broken';
export type FromPgliteSession = Uint8Array<ArrayBuffer> | typeof statementDone | typeof sessionBroken;
