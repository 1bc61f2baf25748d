import { MemoryError } from '../shared/errors.ts';
import type { EmbedderOptions } from './embedder.ts';
import { weightFileOf } from './model-files.ts';
import { ModelWorker, noRank } from './model-worker.ts';
import { provideModel, type WantedModel } from './provide-model.ts';
import type { Reranker } from './reranker.ts';

export type CrossEncoderOptions = Omit<
  EmbedderOptions,
  'provider' | 'dimensions' | 'queryCacheEntries' | 'maxTextsInFlight'
>;

const wanted: WantedModel = { name: 'Reranking model', otherwise: 'set retrieval rerank = "features"' };

/** Finds or downloads the files, so that a server that cannot rerank does not start. Loads nothing yet. */
export async function createCrossEncoder(options: CrossEncoderOptions): Promise<CrossEncoder> {
  weightFileOf(options);
  const modelsDirectory = await provideModel(wanted, options, (...model) => startWorker(options, ...model));
  return new CrossEncoder(options, modelsDirectory);
}

/** A sequence classification model with one output, in a worker thread. */
export class CrossEncoder implements Reranker {
  readonly #options: CrossEncoderOptions;
  readonly #modelsDirectory: string;
  #opened: Promise<ModelWorker> | null = null;
  #closed = false;

  constructor(options: CrossEncoderOptions, modelsDirectory: string) {
    this.#options = options;
    this.#modelsDirectory = modelsDirectory;
  }

  async load(): Promise<void> {
    await this.#open();
  }

  async rank(query: string, texts: readonly string[]): Promise<number[]> {
    const worker = await this.#open();
    const logits = await Promise.all(texts.map((text) => worker.rank(query, text)));
    return logits.map(asShare);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = await this.#opened?.catch(() => null);
    await worker?.close();
  }

  #open(): Promise<ModelWorker> {
    if (this.#closed) return Promise.reject(noRank('the reranker was closed'));
    this.#opened ??= this.#start();
    return this.#opened;
  }

  async #start(): Promise<ModelWorker> {
    const worker = startWorker(this.#options, this.#modelsDirectory, false);
    // The next call starts another one.
    void worker.ended.then(() => (this.#opened = null));
    try {
      await worker.ready;
    } catch (error) {
      const { model, dtype } = this.#options;
      throw new MemoryError('STARTUP', `Reranking model ${model} (${dtype}) cannot be used: ${await worker.ended}`, {
        cause: error,
      });
    }
    return worker;
  }
}

function startWorker(
  { model, dtype, threads, hubAddress, logger }: CrossEncoderOptions,
  modelsDirectory: string,
  download: boolean,
): ModelWorker {
  return new ModelWorker({ task: 'ranking', modelsDirectory, model, dtype, threads, download, hubAddress }, logger);
}

/** Such models are trained with a sigmoid behind their last layer. */
function asShare(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
