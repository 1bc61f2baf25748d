import type { Transaction } from '../db/database.ts';
import type { NewEmbedding } from '../db/queries/embeddings.ts';
import { modelKey, type Embedder, type Embedding, type EmbeddingModel } from '../embedding/embedder.ts';
import { packSigns } from '../embedding/token-vectors.ts';
import { MemoryError } from '../shared/errors.ts';
import type { RedactedText } from '../redaction/redactor.ts';
import type { MemoryContext } from './context.ts';
import {
  expectVersions,
  findVersionOf,
  lockVersions,
  registerVersion,
  type VersionInUse,
} from './embedding-versions.ts';

/** A text with its vectors, by model: while a model is being replaced a row needs those of both, to be found by either. */
export interface EmbeddedText {
  readonly text: RedactedText;
  readonly vectors: Map<string, Embedding>;
}

/** Before the transaction, always: a model at work must not hold a connection. */
export async function embedOne(context: MemoryContext, text: RedactedText): Promise<EmbeddedText> {
  const [embedded] = await embedAll(context, [text]);
  if (embedded === undefined) throw noVector();
  return embedded;
}

export async function embedAll(context: MemoryContext, texts: readonly RedactedText[]): Promise<EmbeddedText[]> {
  const embedded = texts.map((text): EmbeddedText => ({ text, vectors: new Map() }));
  const found = await Promise.all((await expectVersions(context)).map((version) => context.embedder.findFor(version)));
  const usable = found.filter((embedder) => embedder !== null);
  const embedders = usable.length === 0 ? [context.embedder] : usable;
  // Two versions of one model, before and after a change of the text form, have one embedder.
  await Promise.all([...new Set(embedders)].map((embedder) => complete(embedder, embedded)));
  return embedded;
}

/** Throws the error again unless the model embeds a plain text: only then is the text that it failed on to blame. */
export async function requireModel({ embedder }: Pick<MemoryContext, 'embedder'>, error: unknown): Promise<void> {
  await embedder.embed(['text']).catch(() => {
    throw error;
  });
}

/**
 * The vectors that a row is written with, one for each version that is in use and can be had here. The versions cannot
 * change any more before the transaction ends, so no row is left without the vector of the one that is active then; a
 * row that lacks one of a version in building is found by the sweep that builds it.
 */
export async function vectorsToWrite(
  context: MemoryContext,
  transaction: Transaction,
  texts: readonly EmbeddedText[],
): Promise<NewEmbedding[][]> {
  const versions = await lockVersions(context, transaction);
  const ready: VersionInUse[] = [];
  for (const version of versions) {
    if (hasAll(texts, version) || (version.status === 'active' && (await completeLate(context, version, texts)))) {
      ready.push(version);
    }
  }
  if (ready.length === 0) ready.push(await useConfigured(context, transaction, versions, texts));
  return texts.map(({ vectors }) =>
    ready.map((version) => {
      const { vector, tokens } = vectors.get(modelKey(version)) as Embedding;
      return { version, vector, tokens: tokens === null ? null : packSigns(tokens) };
    }),
  );
}

export async function vectorsOfOne(
  context: MemoryContext,
  transaction: Transaction,
  text: EmbeddedText,
): Promise<NewEmbedding[]> {
  const [vectors] = await vectorsToWrite(context, transaction, [text]);
  return vectors ?? [];
}

/** A version that became active since the vectors were made: once, as what was seen now is expected from then on. */
async function completeLate(
  context: MemoryContext,
  version: VersionInUse,
  texts: readonly EmbeddedText[],
): Promise<boolean> {
  const embedder = await context.embedder.findFor(version);
  if (embedder === null) return false;
  await complete(embedder, texts);
  return true;
}

async function useConfigured(
  context: MemoryContext,
  transaction: Transaction,
  versions: readonly VersionInUse[],
  texts: readonly EmbeddedText[],
): Promise<VersionInUse> {
  await complete(context.embedder, texts);
  return findVersionOf(versions, context.embedder.model) ?? registerVersion(context, transaction, versions);
}

function hasAll(texts: readonly EmbeddedText[], model: EmbeddingModel): boolean {
  return texts.every(({ vectors }) => vectors.has(modelKey(model)));
}

async function complete(embedder: Embedder, texts: readonly EmbeddedText[]): Promise<void> {
  const key = modelKey(embedder.model);
  const lacking = texts.filter(({ vectors }) => !vectors.has(key));
  if (lacking.length === 0) return;
  const vectors = await embedder.embed(lacking.map(({ text }) => text));
  for (const [place, { vectors: known }] of lacking.entries()) {
    const vector = vectors[place];
    if (vector === undefined) throw noVector();
    known.set(key, vector);
  }
}

function noVector(): MemoryError {
  return new MemoryError('EMBEDDING_FAILED', 'the embedder gave no vector for the text');
}
