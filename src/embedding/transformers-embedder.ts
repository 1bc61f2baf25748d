import { join } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import type {
  EmbedderOptions,
  EmbedderStatus,
  Embedding,
  EmbeddingModel,
  EmbeddingProvider,
  TextPriority,
} from './embedder.ts';
import { digestFile, findKnownDigest, verifyDigest, weightFileOf } from './model-files.ts';
import { ModelWorker, noVector } from './model-worker.ts';
import { provideModel, type StartWorker, type WantedModel } from './provide-model.ts';
import { TextQueue } from './text-queue.ts';

/**
 * The digest is part of the model's identity and so must be known first. For a model that the source does not list, the
 * weight file is read here, and downloaded here when it has to be.
 */
export async function createTransformersProvider(options: EmbedderOptions): Promise<TransformersProvider> {
  const weightFile = weightFileOf(options);
  const known = findKnownDigest(options);
  if (known !== null) return new TransformersProvider(options, known);
  const modelsDirectory = await provideModel(wanted, options, startWorkerOf(options));
  return new TransformersProvider(options, await digestFile(join(modelsDirectory, weightFile)));
}

/** A transformers.js model in a worker thread: neither tokenising nor inference runs in the caller's event loop. */
export class TransformersProvider implements EmbeddingProvider {
  readonly model: EmbeddingModel;
  readonly #options: EmbedderOptions;
  readonly #queue: TextQueue;
  #loading: Promise<ModelWorker> | null = null;
  #worker: ModelWorker | null = null;
  #state: EmbedderStatus['state'] = 'idle';
  #detail: string | null = null;
  #computed = 0;
  #closed = false;

  constructor(options: EmbedderOptions, digest: string) {
    const { provider, model, dtype, dimensions } = options;
    this.model = { provider, model, dtype, digest, dimensions };
    this.#options = options;
    this.#queue = new TextQueue(options.maxTextsInFlight, (text) => this.#run(text));
  }

  async load(): Promise<void> {
    await this.#open();
  }

  status(): EmbedderStatus {
    const texts = { computed: this.#computed, inFlight: this.#queue.inFlight, waiting: this.#queue.waiting };
    return { state: this.#state, detail: this.#detail, texts };
  }

  async compute(text: string, priority: TextPriority): Promise<Embedding> {
    // Before queueing, so that every text, and not only those in flight, rejects with what kept the model from loading.
    await this.#open();
    return this.#queue.submit(text, priority);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.rejectWaiting(noVector('the embedder was closed'));
    await Promise.all([this.#worker?.close(), this.#loading?.catch(() => null)]);
  }

  #open(): Promise<ModelWorker> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<ModelWorker> {
    this.#state = 'loading';
    this.#detail = null;
    try {
      const worker = await this.#loadVerified();
      this.#state = 'ready';
      void worker.ended.then((reason) => this.#fail(reason));
      return worker;
    } catch (thrown) {
      const error = thrown instanceof MemoryError ? thrown : unreadableModel(this.model, thrown);
      this.#fail(error.message);
      throw error;
    }
  }

  async #loadVerified(): Promise<ModelWorker> {
    const modelsDirectory = await provideModel(wanted, this.#options, (...model) => this.#start(...model));
    await verifyDigest(join(modelsDirectory, weightFileOf(this.#options)), this.model.digest);
    const worker = this.#start(modelsDirectory, false);
    const { dimensions } = await worker.ready;
    if (dimensions === this.model.dimensions) return worker;
    await worker.close();
    throw wrongDimensions(this.model, dimensions);
  }

  /** Keeps the worker at hand, so that it can be closed while it still loads. */
  #start(modelsDirectory: string, download: boolean): ModelWorker {
    if (this.#closed) throw new MemoryError('EMBEDDING_FAILED', 'The embedder was closed while its model loaded');
    this.#worker = startWorkerOf(this.#options)(modelsDirectory, download);
    return this.#worker;
  }

  async #run(text: string): Promise<Embedding> {
    const worker = await this.#open();
    const embedding = await worker.embed(text);
    this.#computed += 1;
    return embedding;
  }

  #fail(reason: string): void {
    this.#loading = null;
    this.#worker = null;
    this.#state = 'failed';
    this.#detail = reason;
    this.#queue.rejectWaiting(noVector(reason));
  }
}

function startWorkerOf({ model, dtype, threads, hubAddress, logger }: EmbedderOptions): StartWorker {
  return (modelsDirectory, download) =>
    new ModelWorker({ modelsDirectory, model, dtype, threads, download, hubAddress }, logger);
}

const wanted: WantedModel = { name: 'Embedding model', otherwise: 'set provider = "hashing"' };

function unreadableModel({ model, dtype }: EmbeddingModel, cause: unknown): MemoryError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MemoryError('STARTUP', `Embedding model ${model} (${dtype}) could not be read: ${reason}`, { cause });
}

function wrongDimensions({ model, dtype, dimensions }: EmbeddingModel, actual: number): MemoryError {
  return new MemoryError(
    'CONFIGURATION',
    `Embedding dimensions: model ${model} (${dtype}) gives vectors of ${actual}; configured ${dimensions}`,
  );
}
