import type { Worker } from 'node:worker_threads';
import { MemoryError } from '../shared/errors.ts';
import { startWorkerThread } from '../shared/worker-thread.ts';
import type { EmbedderLogger, Embedding } from './embedder.ts';

export interface WorkerSettings {
  /** What the model is for: vectors of texts, or how well a text answers a query. Embedding when left out. */
  task?: 'embedding' | 'ranking';
  modelsDirectory: string;
  model: string;
  dtype: string;
  threads: number;
  download: boolean;
  hubAddress: string | undefined;
}

export type WorkerRequest = { kind: 'compute'; id: number; input: WorkerInput } | { kind: 'close' };

export interface WorkerInput {
  text: string;
  /** What the text is ranked for; of no meaning to an embedding. */
  query?: string;
}

export type WorkerReply =
  | { kind: 'ready'; dimensions: number }
  | { kind: 'failed'; message: string }
  | { kind: 'progress'; file: string; percent: number }
  | { kind: 'computed'; id: number; output: Embedding }
  | { kind: 'refused'; id: number; message: string };

interface PendingText {
  resolve: (output: Embedding) => void;
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
  readonly #task: NonNullable<WorkerSettings['task']>;
  readonly #logger: EmbedderLogger | undefined;
  readonly #pending = new Map<number, PendingText>();
  readonly #nextProgressPercent = new Map<string, number>();
  #nextId = 1;
  #hasEnded = false;
  #reason = 'the worker thread ended';

  constructor(settings: WorkerSettings, logger: EmbedderLogger | undefined) {
    this.#task = settings.task ?? 'embedding';
    this.#logger = logger;
    this.#worker = startWorkerThread(import.meta.url, 'transformers-worker', settings);
    this.#worker.on('error', (error) => (this.#reason = `the worker thread crashed: ${error.message}`));
    this.ended = new Promise((resolve) => this.#worker.once('exit', () => resolve(this.#end())));
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (reply: WorkerReply) => this.#receive(reply, resolve));
      void this.ended.then((reason) => reject(loadFailed(settings, reason)));
    });
  }

  embed(text: string): Promise<Embedding> {
    return this.#compute({ text });
  }

  /** What the model says of the pair, as it comes from the last layer. */
  async rank(query: string, text: string): Promise<number> {
    const { vector } = await this.#compute({ query, text });
    return vector[0] ?? Number.NaN;
  }

  async close(): Promise<void> {
    this.#reason = `the ${this.#task === 'ranking' ? 'reranker' : 'embedder'} was closed`;
    this.#send({ kind: 'close' });
    await this.ended;
  }

  #compute(input: WorkerInput): Promise<Embedding> {
    if (this.#hasEnded) return Promise.reject(this.#failed(this.#reason));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ kind: 'compute', id, input });
    });
  }

  #failed(reason: string): MemoryError {
    return this.#task === 'ranking' ? noRank(reason) : noVector(reason);
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
      case 'computed':
        return this.#take(reply.id)?.resolve(reply.output);
      case 'refused':
        return this.#take(reply.id)?.reject(this.#failed(reply.message));
    }
  }

  #take(id: number): PendingText | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #end(): string {
    this.#hasEnded = true;
    for (const { reject } of this.#pending.values()) reject(this.#failed(this.#reason));
    this.#pending.clear();
    return this.#reason;
  }

  /** The library reports every chunk; a log wants a handful of lines. */
  #logProgress(file: string, percent: number): void {
    const next = this.#nextProgressPercent.get(file) ?? progressStepPercent;
    if (percent < next) return;
    this.#nextProgressPercent.set(file, percent - (percent % progressStepPercent) + progressStepPercent);
    this.#logger?.info({ file, percent }, `Downloading ${this.#task} model: ${file} ${percent}%`);
  }
}

function loadFailed({ task, model, dtype }: WorkerSettings, reason: string): MemoryError {
  const what = task === 'ranking' ? 'Reranking' : 'Embedding';
  return new MemoryError('EMBEDDING_FAILED', `${what} model ${model} (${dtype}) could not be loaded: ${reason}`);
}

export function noRank(reason: string): MemoryError {
  return new MemoryError('EMBEDDING_FAILED', `No rank could be computed: ${reason}`);
}

export function noVector(reason: string): MemoryError {
  return new MemoryError('EMBEDDING_FAILED', `No vector could be computed: ${reason}`);
}
