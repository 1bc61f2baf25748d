import { LRUCache } from 'lru-cache';
import { invalidInput, MemoryError } from '../shared/errors.ts';
import {
  modelKey,
  type Embedder,
  type EmbedderStatus,
  type Embedding,
  type EmbeddingModel,
  type EmbeddingProvider,
} from './embedder.ts';
import type { OtherEmbedders } from './other-embedders.ts';

/** What all providers have in common: refusing blank texts, remembering queries, refusing work once closed. */
export class CachedEmbedder implements Embedder {
  readonly #provider: EmbeddingProvider;
  readonly #queries: LRUCache<string, Promise<Embedding>> | null;
  readonly #others: OtherEmbedders | null;
  #closing: Promise<void> | null = null;

  constructor(provider: EmbeddingProvider, queryCacheEntries: number, others: OtherEmbedders | null) {
    this.#provider = provider;
    this.#others = others;
    this.#queries = queryCacheEntries === 0 ? null : new LRUCache({ max: queryCacheEntries });
  }

  get model(): EmbeddingModel {
    return this.#provider.model;
  }

  async load(): Promise<void> {
    this.#assertOpen();
    await this.#provider.load();
  }

  status(): EmbedderStatus {
    const status = this.#provider.status();
    return this.#closing === null ? status : { ...status, state: 'idle', detail: 'closed' };
  }

  async embed(texts: readonly string[]): Promise<Embedding[]> {
    this.#assertOpen();
    texts.forEach((text, index) => assertNotBlank(`texts[${index}]`, text));
    return Promise.all(texts.map((text) => this.#provider.compute(text, 'document')));
  }

  async embedQuery(text: string): Promise<Embedding> {
    this.#assertOpen();
    assertNotBlank('query', text);
    const { vector, tokens } = await (this.#queries?.get(text) ?? this.#computeQuery(text));
    // A copy, so that a caller who writes into its vector does not change the answer of the next one.
    return { vector: vector.slice(), tokens };
  }

  async findFor(model: EmbeddingModel): Promise<Embedder | null> {
    this.#assertOpen();
    if (modelKey(model) === modelKey(this.model)) return this;
    return this.#others?.find(model) ?? null;
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#provider.close(), this.#others?.close()]).then(() => undefined);
    return this.#closing;
  }

  /** The promise is cached, not its embedding: identical queries that arrive meanwhile wait for the same computation. */
  #computeQuery(text: string): Promise<Embedding> {
    const embedding = this.#provider.compute(text, 'query');
    this.#queries?.set(text, embedding);
    embedding.catch(() => {
      if (this.#queries?.peek(text) === embedding) this.#queries.delete(text);
    });
    return embedding;
  }

  #assertOpen(): void {
    if (this.#closing !== null) {
      throw new MemoryError('EMBEDDING_FAILED', 'The embedder is closed and takes no more texts');
    }
  }
}

function assertNotBlank(field: string, text: string): void {
  if (text.trim() === '') throw invalidInput(field, 'text with at least one character other than space', text);
}
