import { parentPort, workerData } from 'node:worker_threads';
import { env, type FeatureExtractionPipeline, LogLevel, pipeline } from '@huggingface/transformers';
import type { WorkerReply, WorkerRequest, WorkerSettings } from './model-worker.ts';

if (parentPort === null) throw new Error('transformers-worker runs in a worker thread only');
const port = parentPort;
const settings = workerData as WorkerSettings;

let extractor: FeatureExtractionPipeline | null = null;
let closing = false;
let lastTask: Promise<void> = Promise.resolve();

port.on('message', (request: WorkerRequest) => {
  closing ||= request.kind === 'close';
  // Nothing to wait for while loading. Once loaded, the session has to be disposed of between two inferences: ending
  // the thread inside native code aborts the whole process.
  if (closing && extractor === null) process.exit(0);
  lastTask = lastTask.then(() => (request.kind === 'close' ? dispose() : answer(request.id, request.text)));
});

try {
  const loaded = await openExtractor();
  const vector = await computeVector(loaded, 'The first inference allocates what later ones use.');
  extractor = loaded;
  reply({ kind: 'ready', dimensions: vector.length });
} catch (error) {
  reply({ kind: 'failed', message: messageOf(error) });
  port.close();
}

async function openExtractor(): Promise<FeatureExtractionPipeline> {
  // Standard output may be a protocol stream (MCP over stdio), so the library stays silent short of errors.
  env.logLevel = LogLevel.ERROR;
  env.localModelPath = settings.modelsDirectory;
  env.cacheDir = settings.modelsDirectory;
  env.useFSCache = settings.download;
  env.allowRemoteModels = settings.download;
  if (settings.hubAddress !== undefined) env.remoteHost = settings.hubAddress;
  return pipeline('feature-extraction', settings.model, {
    dtype: settings.dtype as 'q8',
    session_options: { intraOpNumThreads: settings.threads, interOpNumThreads: 1 },
    ...(settings.download && { progress_callback: reportProgress }),
  });
}

/** One text a call: q8 activations are quantised over the whole batch, so neighbours would change the vector. */
async function computeVector(loaded: FeatureExtractionPipeline, text: string): Promise<Float32Array> {
  // The tokenizer cuts after the model's maximum (512 tokens for MiniLM and gte-small): what follows has no effect.
  const output = await loaded(text, { pooling: 'mean', normalize: true });
  return Float32Array.from(output.data as Float32Array);
}

async function answer(id: number, text: string): Promise<void> {
  if (closing || extractor === null) return;
  try {
    const vector = await computeVector(extractor, text);
    reply({ kind: 'vector', id, vector }, [vector.buffer as ArrayBuffer]);
  } catch (error) {
    reply({ kind: 'refused', id, message: messageOf(error) });
  }
}

async function dispose(): Promise<void> {
  await extractor?.dispose();
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
