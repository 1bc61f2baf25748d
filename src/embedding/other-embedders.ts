import { modelKey, type Embedder, type EmbeddingModel } from './embedder.ts';

export interface OtherModels {
  /** Cheap: asked for every text as long as the answer is no, since somebody may put the files there. */
  isThere(model: EmbeddingModel): boolean;
  /** Null when it is there and not what is wanted. */
  open(model: EmbeddingModel): Promise<Embedder | null>;
}

/** The embedders of models that are not the configured one: each is opened when it is first asked for, and kept. */
export class OtherEmbedders {
  readonly #models: OtherModels;
  readonly #opened = new Map<string, Promise<Embedder | null>>();
  #isClosed = false;

  constructor(models: OtherModels) {
    this.#models = models;
  }

  async find(model: EmbeddingModel): Promise<Embedder | null> {
    const key = modelKey(model);
    const opened = this.#opened.get(key);
    if (opened !== undefined) return opened;
    if (this.#isClosed || !this.#models.isThere(model)) return null;
    const opening = this.#models.open(model).catch(() => null);
    this.#opened.set(key, opening);
    return opening;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#opened.values()].map(async (opening) => (await opening)?.close()));
  }
}
