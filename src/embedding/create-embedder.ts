import { describeGiven, MemoryError } from '../errors.ts';
import { CachedEmbedder } from './cached-embedder.ts';
import { type Embedder, type EmbedderOptions, embeddingProviders, type EmbeddingProvider } from './embedder.ts';
import { HashingProvider } from './hashing-embedder.ts';
import { createTransformersProvider } from './transformers-embedder.ts';

/** Loads nothing yet, unless the identity of the model cannot be known without its files. */
export async function createEmbedder(options: EmbedderOptions): Promise<Embedder> {
  assertWholeNumbers(options, ['dimensions', 'threads', 'maxTextsInFlight'], 1);
  assertWholeNumbers(options, ['queryCacheEntries'], 0);
  return new CachedEmbedder(await createProvider(options), options.queryCacheEntries);
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
  return new MemoryError('CONFIGURATION', `Embedding ${key}: must be ${allowed}; given ${describeGiven(given)}`);
}
