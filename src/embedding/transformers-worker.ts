import { parentPort, workerData } from 'node:worker_threads';
import {
  AutoModelForSequenceClassification,
  AutoTokenizer,
  env,
  LogLevel,
  pipeline,
  type Tensor,
} from '@huggingface/transformers';
import type { Embedding } from './embedder.ts';
import { mostTokens, type TokenVectors } from './token-vectors.ts';
import type { WorkerInput, WorkerReply, WorkerRequest, WorkerSettings } from './model-worker.ts';

if (parentPort === null) throw new Error('transformers-worker runs in a worker thread only');
const port = parentPort;
const settings = workerData as WorkerSettings;

interface Computation {
  /** One input a call: q8 activations are quantised over the whole batch, so neighbours would change the result. */
  compute(input: WorkerInput): Promise<Embedding>;
  dispose(): Promise<unknown>;
}

let computation: Computation | null = null;
let closing = false;
let lastTask: Promise<void> = Promise.resolve();

port.on('message', (request: WorkerRequest) => {
  closing ||= request.kind === 'close';
  // Nothing to wait for while loading. Once loaded, the session has to be disposed of between two inferences: ending
  // the thread inside native code aborts the whole process.
  if (closing && computation === null) process.exit(0);
  lastTask = lastTask.then(() => (request.kind === 'close' ? dispose() : answer(request.id, request.input)));
});

try {
  const loaded = await open();
  const text = 'The first inference allocates what later ones use.';
  const output = await loaded.compute({ query: text, text });
  computation = loaded;
  reply({ kind: 'ready', dimensions: output.vector.length });
} catch (error) {
  reply({ kind: 'failed', message: readMessage(error) });
  port.close();
}

async function open(): Promise<Computation> {
  // Standard output may be a protocol stream (MCP over stdio), so the library stays silent short of errors.
  env.logLevel = LogLevel.ERROR;
  env.localModelPath = settings.modelsDirectory;
  env.cacheDir = settings.modelsDirectory;
  env.useFSCache = settings.download;
  env.allowRemoteModels = settings.download;
  if (settings.hubAddress !== undefined) env.remoteHost = settings.hubAddress;
  return settings.task === 'ranking' ? openRanker() : openExtractor();
}

function sessionOptions() {
  return {
    dtype: settings.dtype as 'q8',
    session_options: { intraOpNumThreads: settings.threads, interOpNumThreads: 1 },
    ...(settings.download && { progress_callback: reportProgress }),
  };
}

async function openExtractor(): Promise<Computation> {
  const extract = await pipeline('feature-extraction', settings.model, sessionOptions());
  return {
    compute: async ({ text }) => {
      // The tokenizer cuts after the model's maximum (512 tokens for MiniLM and gte-small): what follows has no effect.
      const { data, dims } = await extract(text, { pooling: 'none' });
      const [, count = 0, dimensions = 0] = dims;
      const rows = data as Float32Array;
      const pieces = extract.tokenizer.tokenize(text, { add_special_tokens: true });
      return {
        vector: poolRows(rows, count, dimensions),
        tokens: readTokens(rows, pieces.slice(0, count), dimensions),
      };
    },
    dispose: () => extract.dispose(),
  };
}

/** The mean of all rows, L2-normalised. */
function poolRows(rows: Float32Array, count: number, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (let place = 0; place < count * dimensions; place++) {
    const column = place % dimensions;
    sums[column] = (sums[column] ?? 0) + (rows[place] ?? 0);
  }
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0));
  return Float32Array.from(sums, (sum) => sum / length);
}

/** The rows of the first pieces that are words; the first and the last piece are special ones. */
function readTokens(rows: Float32Array, pieces: readonly string[], dimensions: number): TokenVectors {
  const places = [...pieces.keys()].slice(1, -1).filter((place) => /[\p{L}\p{N}]/u.test(pieces[place] ?? ''));
  const kept = places.slice(0, mostTokens);
  const values = new Int8Array(kept.length * dimensions);
  for (const [token, place] of kept.entries()) {
    const row = rows.subarray(place * dimensions, (place + 1) * dimensions);
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    values.set(
      Array.from(row, (value) => Math.round((value / largest) * 127)),
      token * dimensions,
    );
  }
  return { pieces: kept.map((place) => pieces[place] ?? ''), values };
}

async function openRanker(): Promise<Computation> {
  const tokenizer = await AutoTokenizer.from_pretrained(settings.model);
  const model = await AutoModelForSequenceClassification.from_pretrained(settings.model, sessionOptions());
  return {
    compute: async ({ query = '', text }) => {
      const tokens: unknown = tokenizer(query, { text_pair: text, truncation: true });
      const { logits } = (await model(tokens)) as { logits?: Tensor };
      if (logits?.data.length !== 1) throw new Error('it does not rank: it has no output of one number a pair');
      return { vector: Float32Array.from(logits.data as Float32Array), tokens: null };
    },
    dispose: () => model.dispose(),
  };
}

async function answer(id: number, input: WorkerInput): Promise<void> {
  if (closing || computation === null) return;
  try {
    const output = await computation.compute(input);
    const buffers = [output.vector.buffer, ...(output.tokens === null ? [] : [output.tokens.values.buffer])];
    reply({ kind: 'computed', id, output }, buffers as ArrayBuffer[]);
  } catch (error) {
    reply({ kind: 'refused', id, message: readMessage(error) });
  }
}

async function dispose(): Promise<void> {
  await computation?.dispose();
  port.close();
}

function reportProgress(event: { status: string; file?: string; progress?: number }): void {
  if (event.status !== 'progress' || event.file === undefined || event.progress === undefined) return;
  reply({ kind: 'progress', file: event.file, percent: Math.floor(event.progress) });
}

function reply(message: WorkerReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

function readMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
