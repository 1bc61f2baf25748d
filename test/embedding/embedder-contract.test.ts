import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import { type Embedder, type EmbedderOptions, embeddingProviders } from '../../src/embedding/embedder.ts';
import { MemoryError } from '../../src/shared/errors.ts';

const dimensions = 384;

const defaults = {
  model: 'Xenova/all-MiniLM-L6-v2',
  dtype: 'q8',
  dimensions,
  threads: 1,
  queryCacheEntries: 2,
  maxTextsInFlight: 4,
  allowDownload: false,
  downloadDirectory: join(tmpdir(), 'butler-memory-no-downloads'),
} satisfies Partial<EmbedderOptions>;

const oddTexts = {
  'accents and other scripts': 'Zażółć gęślą jaźń — 東京タワー, مرحبا بالعالم',
  'emoji only': '👩‍👩‍👧‍👦🎉',
  'punctuation only': '?!',
  'half of a surrogate pair': 'broken \ud83d text',
  'a zero byte': 'before\u0000after',
  '10,000 characters': 'The butler remembers. '.repeat(500).slice(0, 10_000),
};

describe.each(embeddingProviders)('embedder of provider %s', (provider) => {
  let embedder: Embedder;

  beforeAll(async () => {
    embedder = await createEmbedder({ ...defaults, provider });
  });

  afterAll(() => embedder.close());

  it('names its provider and dimensions before loading', async () => {
    const fresh = await createEmbedder({ ...defaults, provider });
    expect(fresh.model).toMatchObject({ provider, dimensions });
    expect(fresh.model.digest).not.toBe('');
    await fresh.close();
  });

  it('is ready after loading, however often it is asked to load', async () => {
    await Promise.all([embedder.load(), embedder.load()]);
    await embedder.load();
    expect(embedder.status()).toMatchObject({ state: 'ready', detail: null });
  });

  it('returns one vector a text in the order given', async () => {
    const texts = ['apples', 'bridges', 'clouds', 'apples'];
    const vectors = await embedder.embed(texts);
    expect(vectors).toHaveLength(4);
    for (const [index, text] of texts.entries()) expect([vectors[index]]).toEqual(await embedder.embed([text]));
    expect(vectors[0]).not.toEqual(vectors[1]);
  });

  it('returns no vectors for no texts', async () => {
    expect(await embedder.embed([])).toEqual([]);
  });

  it.each(Object.entries(oddTexts))('gives a vector of length one for %s', async (_, text) => {
    const [{ vector } = { vector: null }] = await embedder.embed([text]);
    expect(vector).toBeInstanceOf(Float32Array);
    expect(vector).toHaveLength(dimensions);
    expect(lengthOf(vector!)).toBeCloseTo(1, 3);
  });

  it('gives the same text the same vector in another embedder', async () => {
    const other = await createEmbedder({ ...defaults, provider });
    expect(await other.embed(['the same text'])).toEqual(await embedder.embed(['the same text']));
    await other.close();
  });

  it('gives a query the vector of the equal document', async () => {
    expect([await embedder.embedQuery('where is the key?')]).toEqual(await embedder.embed(['where is the key?']));
  });

  it('computes identical concurrent queries once', async () => {
    const before = embedder.status().texts.computed;
    const vectors = await Promise.all(Array.from({ length: 10 }, () => embedder.embedQuery('asked ten times')));
    expect(embedder.status().texts.computed).toBe(before + 1);
    expect(new Set(vectors.map(({ vector }) => String(vector))).size).toBe(1);
  });

  it('remembers only the most recent queries, two as configured', async () => {
    const before = embedder.status().texts.computed;
    for (const query of ['first', 'second', 'third', 'second', 'third']) await embedder.embedQuery(query);
    expect(embedder.status().texts.computed).toBe(before + 3);
    await embedder.embedQuery('first');
    expect(embedder.status().texts.computed).toBe(before + 4);
  });

  it('remembers no query when the cache is configured away', async () => {
    const uncached = await createEmbedder({ ...defaults, provider, queryCacheEntries: 0 });
    await uncached.embedQuery('again');
    await uncached.embedQuery('again');
    expect(uncached.status().texts.computed).toBe(2);
    await uncached.close();
  });

  it('keeps its remembered vector when a caller overwrites the one it got', async () => {
    const { vector } = await embedder.embedQuery('mine');
    const kept = vector.slice();
    vector.fill(0);
    expect((await embedder.embedQuery('mine')).vector).toEqual(kept);
  });

  it.each(['', ' \n\t'])('refuses the blank text %j and names its place', async (blank) => {
    await expect(embedder.embed(['fine', blank])).rejects.toThrow(/^texts\[1\] must be text with/);
    await expect(embedder.embedQuery(blank)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('refuses every call once closed, and closes twice without harm', async () => {
    const closed = await createEmbedder({ ...defaults, provider });
    await closed.embed(['used before']);
    await Promise.all([closed.close(), closed.close()]);
    for (const call of [closed.load(), closed.embed(['late']), closed.embedQuery('late')]) {
      await expect(call).rejects.toThrow(MemoryError);
    }
    expect(closed.status()).toMatchObject({ state: 'idle', detail: 'closed' });
  });

  it.each(['dimensions', 'threads', 'maxTextsInFlight', 'queryCacheEntries'])('refuses %s of -1', async (key) => {
    const creation = createEmbedder({ ...defaults, provider, [key]: -1 });
    await expect(creation).rejects.toThrow(new RegExp(`^Embedding ${key} must be a whole number from . \\(got -1\\)$`));
  });
});

it('refuses a provider that does not exist and lists those that do', async () => {
  const creation = createEmbedder({ ...defaults, provider: 'oracle' as 'hashing' });
  await expect(creation).rejects.toThrow('Embedding provider must be one of transformers, hashing (got "oracle")');
});

function lengthOf(vector: Float32Array): number {
  return Math.hypot(...vector);
}
