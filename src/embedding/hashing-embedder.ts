import type { EmbedderStatus, Embedding, EmbeddingModel, EmbeddingProvider } from './embedder.ts';

const marker = 'feature-hashing-v1';
const wordWeight = 1;
const trigramWeight = 0.5;

/** For tests and for machines without a model: it knows spelling, not meaning. */
export class HashingProvider implements EmbeddingProvider {
  readonly model: EmbeddingModel;
  #computed = 0;

  constructor(dimensions: number) {
    this.model = { provider: 'hashing', model: marker, dtype: 'fp32', digest: marker, dimensions };
  }

  async load(): Promise<void> {}

  status(): EmbedderStatus {
    return { state: 'ready', detail: null, texts: { computed: this.#computed, inFlight: 0, waiting: 0 } };
  }

  /** Without vectors of word pieces: what two words have in common, the keyword channel knows already. */
  async compute(text: string): Promise<Embedding> {
    this.#computed += 1;
    return { vector: hashFeatures(text, this.model.dimensions), tokens: null };
  }

  async close(): Promise<void> {}
}

/**
 * Feature hashing with signs (Weinberger et al. 2009). Stored vectors depend on every line below: a change needs a new
 * marker, so that old and new vectors are never compared.
 */
export function hashFeatures(text: string, dimensions: number): Float32Array {
  const normalised = text.normalize('NFKC').toLowerCase();
  const words = normalised.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [normalised];
  const sums = new Float64Array(dimensions);
  for (const word of words) {
    addFeature(sums, `word:${word}`, wordWeight);
    for (const trigram of trigrams(word)) addFeature(sums, `trigram:${trigram}`, trigramWeight);
  }
  // Opposite signs may meet in one bucket and leave nothing; the text still needs a direction of its own.
  if (sums.every((sum) => sum === 0)) addFeature(sums, normalised, 1);
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0));
  return Float32Array.from(sums, (sum) => sum / length);
}

function* trigrams(word: string): Generator<string> {
  const characters = Array.from(` ${word} `);
  for (let start = 0; start + 3 <= characters.length; start += 1) yield characters.slice(start, start + 3).join('');
}

function addFeature(sums: Float64Array, feature: string, weight: number): void {
  const hash = hash32(feature);
  const bucket = (hash >>> 1) % sums.length;
  sums[bucket] = (sums[bucket] ?? 0) + (hash & 1 ? weight : -weight);
}

/** FNV-1a over UTF-16 units, then the finaliser of MurmurHash3: FNV alone leaves the low bits, our sign, weak. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
