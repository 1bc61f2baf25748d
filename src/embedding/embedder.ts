import type { TokenVectors } from './token-vectors.ts';

/** What made a vector. Two vectors may be compared only when every field of their models is equal. */
export interface EmbeddingModel {
  provider: string;
  model: string;
  dtype: string;
  /** sha256 of the weights, or a fixed marker that says what made the vectors. */
  digest: string;
  dimensions: number;
}

/** The same for two models whose vectors may be compared. */
export function modelKey({ provider, model, dtype, digest, dimensions }: EmbeddingModel): string {
  return JSON.stringify([provider, model, dtype, digest, dimensions]);
}

/** What the model makes of a text. */
export interface Embedding {
  /** Of the whole text, L2-normalised. */
  vector: Float32Array;
  /** Of its word pieces; null where the provider knows none. */
  tokens: TokenVectors | null;
}

export interface EmbedderStatus {
  state: 'idle' | 'loading' | 'ready' | 'failed';
  detail: string | null;
  texts: TextCounts;
}

export interface TextCounts {
  /** Texts turned into vectors since creation; an answer from the query cache does not count. */
  computed: number;
  inFlight: number;
  waiting: number;
}

export interface Embedder {
  /** Known before loading. */
  readonly model: EmbeddingModel;
  /** Idempotent; concurrent callers share one attempt. After a failure the next call tries again. */
  load(): Promise<void>;
  status(): EmbedderStatus;
  /** One embedding a text, in the order given. Loads when needed. Rejects for a blank text. */
  embed(texts: readonly string[]): Promise<Embedding[]>;
  /** What `embed` would give, through a bounded cache and ahead of waiting documents. */
  embedQuery(text: string): Promise<Embedding>;
  /**
   * The embedder of a model that made stored vectors: this one, or another that is loaded at the first call and closed
   * with this one. Null when that model is not on this machine, or not any more what made them.
   */
  findFor(model: EmbeddingModel): Promise<Embedder | null>;
  /** Pending calls reject, as does every later one. */
  close(): Promise<void>;
}

export const embeddingProviders = ['transformers', 'hashing'] as const;

export interface EmbedderOptions {
  provider: (typeof embeddingProviders)[number];
  /** Name on the hub and below a models directory, such as `Xenova/all-MiniLM-L6-v2`. Hashing ignores it. */
  model: string;
  /** Chooses the weight file, such as `q8` or `fp32`. Hashing ignores it. */
  dtype: string;
  dimensions: number;
  /** Threads that one inference may use. */
  threads: number;
  /** Query vectors remembered; 0 for none. */
  queryCacheEntries: number;
  /**
   * Texts handed to the model's thread at once, over all callers; the others wait, queries ahead of documents. The model
   * takes them one by one: 2 keep it busy, and a query waits for at most so many documents.
   */
  maxTextsInFlight: number;
  allowDownload: boolean;
  /** Where downloads go, and the last place searched for model files, whether downloads are allowed or not. */
  downloadDirectory: string;
  /** Searched for model files before all other places. */
  ownModelsDirectory?: string | undefined;
  /** Replaces the places that carry the built-in model. */
  modelsDirectory?: string | undefined;
  /** A mirror of the model hub; the public one when left out. */
  hubAddress?: string | undefined;
  logger?: EmbedderLogger | undefined;
}

export interface EmbedderLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export type TextPriority = 'query' | 'document';

/** What a provider has to supply; CachedEmbedder makes an Embedder of it. */
export interface EmbeddingProvider {
  readonly model: EmbeddingModel;
  load(): Promise<void>;
  status(): EmbedderStatus;
  compute(text: string, priority: TextPriority): Promise<Embedding>;
  close(): Promise<void>;
}
