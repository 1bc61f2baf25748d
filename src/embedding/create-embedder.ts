import { describeGiven, MemoryError } from '../shared/errors.ts';
import { CachedEmbedder } from './cached-embedder.ts';
import {
  type Embedder,
  type EmbedderOptions,
  type EmbeddingModel,
  embeddingProviders,
  type EmbeddingProvider,
  modelKey,
} from './embedder.ts';
import { HashingProvider } from './hashing-embedder.ts';
import { findModelsDirectory, isKnownDtype, listModelsDirectories } from './model-files.ts';
import { OtherEmbedders } from './other-embedders.ts';
import { createTransformersProvider } from './transformers-embedder.ts';

/** Loads nothing yet, unless the identity of the model cannot be known without its files. */
export async function createEmbedder(options: EmbedderOptions): Promise<Embedder> {
  assertWholeNumbers(options, ['dimensions', 'threads', 'maxTextsInFlight'], 1);
  assertWholeNumbers(options, ['queryCacheEntries'], 0);
  const others = new OtherEmbedders({
    isThere: (model) => isThere(optionsFor(options, model)),
    open: (model) => openStored(optionsFor(options, model), model),
  });
  return new CachedEmbedder(await createProvider(options), options.queryCacheEntries, others);
}

/** What made stored vectors is here or it is not: it is never fetched. */
function optionsFor(options: EmbedderOptions, { provider, model, dtype, dimensions }: EmbeddingModel): EmbedderOptions {
  return {
    ...options,
    provider: provider as EmbedderOptions['provider'],
    model,
    dtype,
    dimensions,
    allowDownload: false,
  };
}

function isThere(options: EmbedderOptions): boolean {
  if (options.provider === 'hashing') return true;
  if (options.provider !== 'transformers' || !isKnownDtype(options.dtype)) return false;
  return findModelsDirectory(listModelsDirectories(options), options) !== null;
}

async function openStored(options: EmbedderOptions, model: EmbeddingModel): Promise<Embedder | null> {
  const provider = await createProvider(options);
  if (modelKey(provider.model) !== modelKey(model)) return null;
  try {
    await provider.load();
    return new CachedEmbedder(provider, options.queryCacheEntries, null);
  } catch (error) {
    options.logger?.warn({ err: error, model }, 'the model of stored vectors cannot be loaded');
    return null;
  }
}

async function createProvider(options: EmbedderOptions): Promise<EmbeddingProvider> {
  switch (options.provider) {
    case 'transformers':
      return createTransformersProvider(options);
    case 'hashing':
      return new HashingProvider(options.dimensions);
    default:
      throw misconfigured('provider', `one of ${embeddingProviders.join(', ')}`, options.provider);
  }
}

function assertWholeNumbers<Key extends string>(
  options: Record<Key, number>,
  keys: readonly Key[],
  least: number,
): void {
  for (const key of keys) {
    const given = options[key];
    if (!Number.isInteger(given) || given < least) throw misconfigured(key, `a whole number from ${least}`, given);
  }
}

function misconfigured(key: string, allowed: string, given: unknown): MemoryError {
  return new MemoryError('CONFIGURATION', `Embedding ${key} must be ${allowed} (got ${describeGiven(given)})`);
}
