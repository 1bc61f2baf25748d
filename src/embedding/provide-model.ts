import { join } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import type { EmbedderOptions } from './embedder.ts';
import { findModelsDirectory, listModelsDirectories } from './model-files.ts';
import type { ModelWorker } from './model-worker.ts';

export type StartWorker = (modelsDirectory: string, download: boolean) => ModelWorker;

/** How messages speak of a model. */
export interface WantedModel {
  /** Such as "Embedding model". */
  name: string;
  /** What else one may do when it cannot be had. */
  otherwise: string;
}

export type ModelPlaces = Pick<
  EmbedderOptions,
  'model' | 'dtype' | 'allowDownload' | 'downloadDirectory' | 'ownModelsDirectory' | 'modelsDirectory' | 'logger'
>;

/** The directory that has the files of the model, after fetching them there if that is allowed and needed. */
export async function provideModel(wanted: WantedModel, places: ModelPlaces, start: StartWorker): Promise<string> {
  const directories = listModelsDirectories(places);
  const found = findModelsDirectory(directories, places);
  if (found !== null) return found;
  if (!places.allowDownload) throw missingModel(wanted, places, directories);
  await downloadModel(wanted, places, start);
  return places.downloadDirectory;
}

/** A worker of its own, ended before the files are used: so the digest is checked before the model is asked anything. */
async function downloadModel(
  { name }: WantedModel,
  { downloadDirectory, model, dtype, logger }: ModelPlaces,
  start: StartWorker,
): Promise<void> {
  logger?.info({ model, dtype, downloadDirectory }, `Downloading ${name.toLowerCase()} ${model} (${dtype})`);
  const worker = start(downloadDirectory, true);
  try {
    await worker.ready;
  } catch (error) {
    const message = `${name} ${model} (${dtype}) could not be downloaded into ${downloadDirectory}`;
    throw new MemoryError('STARTUP', `${message}: ${await worker.ended}`, { cause: error });
  }
  await worker.close();
}

function missingModel(
  { name, otherwise }: WantedModel,
  { model, dtype, downloadDirectory }: ModelPlaces,
  searched: readonly string[],
): MemoryError {
  const message = `${name} ${model} (${dtype}) is not on this machine; searched ${searched.join(', ')}`;
  const place = join(downloadDirectory, model);
  const hint = `Set embedding allow_download = true, or put the model's files into ${place}, or ${otherwise}`;
  return new MemoryError('STARTUP', message, { hint });
}
