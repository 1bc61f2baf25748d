import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createCrossEncoder, type CrossEncoder, type CrossEncoderOptions } from '../../src/embedding/cross-encoder.ts';
import { carriedModel, writeTinyCrossEncoder } from './tiny-cross-encoder.ts';

const model = 'example/tiny-cross-encoder';
const directory = mkdtempSync(join(tmpdir(), 'butler-memory-reranking-'));
afterAll(() => rmSync(directory, { recursive: true }));

function options(overrides: Partial<CrossEncoderOptions> = {}): CrossEncoderOptions {
  return {
    model,
    dtype: 'q8',
    threads: 1,
    allowDownload: false,
    downloadDirectory: join(directory, 'no-downloads'),
    modelsDirectory: mkdtempSync(join(directory, 'models-')),
    ...overrides,
  };
}

function withTinyModel(): string {
  const modelsDirectory = mkdtempSync(join(directory, 'tiny-'));
  writeTinyCrossEncoder(join(modelsDirectory, model));
  return modelsDirectory;
}

const opened: CrossEncoder[] = [];

async function open(overrides: Partial<CrossEncoderOptions> = {}): Promise<CrossEncoder> {
  const reranker = await createCrossEncoder(options({ modelsDirectory: withTinyModel(), ...overrides }));
  opened.push(reranker);
  return reranker;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((reranker) => reranker.close()));
});

describe('a cross-encoder', () => {
  it('reads query and text together: both change what it says', async () => {
    const reranker = await open();
    const [tea, coffee] = await reranker.rank('what does she drink', ['tea in the morning', 'coffee after lunch']);
    const [again] = await reranker.rank('what does she drink when it rains', ['tea in the morning']);

    expect(new Set([tea, coffee, again]).size).toBe(3);
    for (const share of [tea, coffee, again]) expect(share).toBeGreaterThan(0.5);
    for (const share of [tea, coffee, again]) expect(share).toBeLessThan(1);
  });

  it('says the same of a pair alone and among others', async () => {
    const reranker = await open();
    const [alone] = await reranker.rank('what does she drink', ['tea in the morning']);
    const among = await reranker.rank('what does she drink', [
      'coffee',
      'a much longer text '.repeat(20),
      'tea in the morning',
    ]);

    expect(among[2]).toBe(alone);
  });

  it('reads no more of a text than the model takes', async () => {
    const reranker = await open();
    const long = 'word '.repeat(600);
    const [apple, bridge] = await reranker.rank('which', [`${long} apple`, `${long} bridge`]);

    expect(apple).toBe(bridge);
  });

  it('ranks nothing without a text', async () => {
    expect(await (await open()).rank('what', [])).toEqual([]);
  });
});

describe('a cross-encoder that cannot be had', () => {
  it('is missed before anything starts, with where it was looked for and what to set', async () => {
    const given = options();
    const creation = createCrossEncoder(given);

    await expect(creation).rejects.toMatchObject({
      code: 'STARTUP',
      message: `Reranking model ${model} (q8) is not on this machine; searched ${given.modelsDirectory}, ${given.downloadDirectory}`,
      hint: expect.stringContaining('rerank = "features"'),
    });
  });

  it('says what could not be fetched', async () => {
    const downloadDirectory = mkdtempSync(join(directory, 'downloads-'));
    const given = options({ downloadDirectory, allowDownload: true, hubAddress: 'http://127.0.0.1:1/' });

    await expect(createCrossEncoder(given)).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringContaining(
        `Reranking model ${model} (q8) could not be downloaded into ${downloadDirectory}`,
      ),
    });
  });

  it('is refused if it is a model for something else', async () => {
    const modelsDirectory = mkdtempSync(join(directory, 'embedding-'));
    cpSync(carriedModel, join(modelsDirectory, model), { recursive: true });
    const reranker = await open({ modelsDirectory });

    await expect(reranker.load()).rejects.toMatchObject({
      code: 'STARTUP',
      message: `Reranking model ${model} (q8) cannot be used: it does not rank: it has no output of one number a pair`,
    });
  });

  it('is refused if its file is no model', async () => {
    const modelsDirectory = withTinyModel();
    writeFileSync(join(modelsDirectory, model, 'onnx/model_quantized.onnx'), 'nothing');
    const reranker = await open({ modelsDirectory });

    await expect(reranker.load()).rejects.toMatchObject({ code: 'STARTUP', message: expect.stringContaining(model) });
  });
});

describe('the thread of a cross-encoder', () => {
  it('is replaced after a crash, which only the pending calls feel', async () => {
    const reranker = await open();
    const started = new Promise<Worker>((resolve) => process.once('worker', resolve));
    await reranker.load();
    const pending = reranker.rank('what', Array(30).fill('words '.repeat(100)));
    // No message of ours is null: the thread throws as it would for a defect of its own.
    (await started).postMessage(null);

    await expect(pending).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    expect(await reranker.rank('what', ['text'])).toHaveLength(1);
  });

  it('rejects pending calls when it is closed, and later ones', async () => {
    const reranker = await open();
    await reranker.load();
    const pending = reranker.rank('what', Array(30).fill('words '.repeat(100)));
    const closing = reranker.close();

    await expect(pending).rejects.toMatchObject({
      code: 'EMBEDDING_FAILED',
      message: expect.stringContaining('closed'),
    });
    await closing;
    await expect(reranker.rank('what', ['text'])).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
  });
});
