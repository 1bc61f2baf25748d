import type { Worker } from 'node:worker_threads';
import { MemoryError } from '../errors.ts';
import { startWorkerThread } from '../worker-thread.ts';
import type { EmbedderLogger } from './embedder.ts';

export interface WorkerSettings {
  modelsDirectory: string;
  model: string;
  dtype: string;
  threads: number;
  download: boolean;
  hubAddress: string | undefined;
}

export type WorkerRequest = { kind: 'embed'; id: number; text: string } | { kind: 'close' };

export type WorkerReply =
  | { kind: 'ready'; dimensions: number }
  | { kind: 'failed'; message: string }
  | { kind: 'progress'; file: string; percent: number }
  | { kind: 'vector'; id: number; vector: Float32Array }
  | { kind: 'refused'; id: number; message: string };

interface PendingText {
  resolve: (vector: Float32Array) => void;
  reject: (error: MemoryError) => void;
}

const progressStepPercent = 10;

/** Our end of the thread that holds the model. */
export class ModelWorker {
  /** Settles once the model answers; rejects only after the thread has ended. */
  readonly ready: Promise<{ dimensions: number }>;
  /** Resolves, once the thread has ended, with what ended it. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  readonly #logger: EmbedderLogger | undefined;
  readonly #pending = new Map<number, PendingText>();
  readonly #nextProgressPercent = new Map<string, number>();
  #nextId = 1;
  #hasEnded = false;
  #reason = 'the worker thread ended';

  constructor(settings: WorkerSettings, logger: EmbedderLogger | undefined) {
    this.#logger = logger;
    this.#worker = startWorkerThread(import.meta.url, 'transformers-worker', settings);
    this.#worker.on('error', (error) => (this.#reason = `the worker thread crashed: ${error.message}`));
    this.ended = new Promise((resolve) => this.#worker.once('exit', () => resolve(this.#end())));
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (reply: WorkerReply) => this.#receive(reply, resolve));
      void this.ended.then((reason) => reject(loadFailed(settings, reason)));
    });
  }

  embed(text: string): Promise<Float32Array> {
    if (this.#hasEnded) return Promise.reject(noVector(this.#reason));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ kind: 'embed', id, text });
    });
  }

  async close(): Promise<void> {
    this.#reason = 'the embedder was closed';
    this.#send({ kind: 'close' });
    await this.ended;
  }

  #send(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }

  #receive(reply: WorkerReply, resolveReady: (ready: { dimensions: number }) => void): void {
    switch (reply.kind) {
      case 'ready':
        return resolveReady(reply);
      case 'failed':
        this.#reason = reply.message;
        return;
      case 'progress':
        return this.#logProgress(reply.file, reply.percent);
      case 'vector':
        return this.#take(reply.id)?.resolve(reply.vector);
      case 'refused':
        return this.#take(reply.id)?.reject(noVector(reply.message));
    }
  }

  #take(id: number): PendingText | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #end(): string {
    this.#hasEnded = true;
    for (const { reject } of this.#pending.values()) reject(noVector(this.#reason));
    this.#pending.clear();
    return this.#reason;
  }

  /** The library reports every chunk; a log wants a handful of lines. */
  #logProgress(file: string, percent: number): void {
    const next = this.#nextProgressPercent.get(file) ?? progressStepPercent;
    if (percent < next) return;
    this.#nextProgressPercent.set(file, percent - (percent % progressStepPercent) + progressStepPercent);
    this.#logger?.info({ file, percent }, `Downloading embedding model: ${file} ${percent}%`);
  }
}

function loadFailed({ model, dtype }: WorkerSettings, reason: string): MemoryError {
  return new MemoryError('EMBEDDING_FAILED', `Embedding model ${model} (${dtype}) could not be loaded: ${reason}`);
}

export function noVector(reason: string): MemoryError {
  return new MemoryError('EMBEDDING_FAILED', `No vector could be computed: ${reason}`);
}
