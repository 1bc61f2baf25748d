import { parentPort, workerData } from 'node:worker_threads';
import {
  AutoModelForSequenceClassification,
  AutoTokenizer,
  env,
  LogLevel,
  pipeline,
  type Tensor,
} from '@huggingface/transformers';
import type { WorkerInput, WorkerReply, WorkerRequest, WorkerSettings } from './model-worker.ts';

if (parentPort === null) throw new Error('transformers-worker runs in a worker thread only');
const port = parentPort;
const settings = workerData as WorkerSettings;

interface Computation {
  /** One input a call: q8 activations are quantised over the whole batch, so neighbours would change the result. */
  compute(input: WorkerInput): Promise<Float32Array>;
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
  reply({ kind: 'ready', dimensions: output.length });
} catch (error) {
  reply({ kind: 'failed', message: messageOf(error) });
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
      const output = await extract(text, { pooling: 'mean', normalize: true });
      return Float32Array.from(output.data as Float32Array);
    },
    dispose: () => extract.dispose(),
  };
}

async function openRanker(): Promise<Computation> {
  const tokenizer = await AutoTokenizer.from_pretrained(settings.model);
  const model = await AutoModelForSequenceClassification.from_pretrained(settings.model, sessionOptions());
  return {
    compute: async ({ query = '', text }) => {
      const tokens: unknown = tokenizer(query, { text_pair: text, truncation: true });
      const { logits } = (await model(tokens)) as { logits?: Tensor };
      if (logits?.data.length !== 1) throw new Error('it does not rank: it has no output of one number a pair');
      return Float32Array.from(logits.data as Float32Array);
    },
    dispose: () => model.dispose(),
  };
}

async function answer(id: number, input: WorkerInput): Promise<void> {
  if (closing || computation === null) return;
  try {
    const vector = await computation.compute(input);
    reply({ kind: 'vector', id, vector }, [vector.buffer as ArrayBuffer]);
  } catch (error) {
    reply({ kind: 'refused', id, message: messageOf(error) });
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

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
