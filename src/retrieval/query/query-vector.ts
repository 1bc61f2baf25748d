import type { SemanticQuery } from '../../db/queries/candidate.ts';
import type { PastText, StoredVersion } from '../../db/queries/search-plan.ts';
import type { Embedder, Embedding, EmbeddingModel } from '../../embedding/embedder.ts';
import type { TokenVectors } from '../../embedding/token-vectors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { textOf } from '../../memory/embedded-text.ts';
import { isSameModel } from '../../memory/embedding-versions.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';

export interface EarlyVector {
  model: EmbeddingModel;
  embedding: Embedding;
}

/** `model_changed`: the stored vectors were made by another model, which is not on this machine. */
export type SemanticChannel = 'used' | 'not_asked' | 'no_vectors' | 'model_changed';

export interface SemanticPart {
  semantic: SemanticQuery | null;
  /** Word pieces of the query; null where the model knows none. */
  tokens?: TokenVectors | null;
  /** Those of the whole question, where the vector is of a part of it. */
  wholeTokens?: TokenVectors | null;
  channel: SemanticChannel;
}

/** The one that this tenant was last searched by, or will be if it was not yet. */
export function searchedModel({ caches, principal, embedder }: MemoryContext): EmbeddingModel {
  return caches.searchedModels.get(principal.tenantId) ?? embedder.model;
}

/** By the model that the stored vectors most likely are of, so that embedding need not wait for the plan. */
export async function embedEarly(context: MemoryContext, search: PreparedSearch): Promise<EarlyVector | null> {
  if (search.mode === 'keyword') return null;
  const model = searchedModel(context);
  const embedder = await context.embedder.findFor(model);
  return embedder === null ? null : { model, embedding: await embedder.embedQuery(search.query.meaning) };
}

/**
 * The vector to compare with those of the active version, always of its own model: vectors of two models are never
 * compared, even if that leaves the words alone to search by.
 */
export async function chooseSemantic(
  context: MemoryContext,
  { mode, query }: PreparedSearch,
  { version, pastTexts }: { version: StoredVersion | null; pastTexts: readonly PastText[] },
  early: EarlyVector | null,
  meaning = query.meaning,
): Promise<SemanticPart> {
  if (mode === 'keyword') return { semantic: null, channel: 'not_asked' };
  if (version === null) return { semantic: null, channel: 'no_vectors' };
  const isExpected = early !== null && isSameModel(version, early.model);
  if (!isExpected) context.caches.searchedModels.set(context.principal.tenantId, version);
  const embedder = await context.embedder.findFor(version);
  if (embedder === null) return { semantic: null, channel: 'model_changed' };
  const [whole, past] = await Promise.all([
    isExpected ? early.embedding : embedder.embedQuery(query.meaning),
    embedPast(embedder, pastTexts),
  ]);
  if (meaning === query.meaning) {
    const semantic = { vector: whole.vector, whole: null, version, pastTexts: past };
    return { semantic, tokens: whole.tokens, channel: 'used' };
  }
  const { vector, tokens } = await embedder.embedQuery(meaning);
  const semantic = { vector, whole: whole.vector, version, pastTexts: past };
  return { semantic, tokens, wholeTokens: whole.tokens, channel: 'used' };
}

/** As documents, behind the queries of other callers. */
async function embedPast(embedder: Embedder, pastTexts: readonly PastText[]): Promise<SemanticQuery['pastTexts']> {
  if (pastTexts.length === 0) return [];
  const embeddings = await embedder.embed(pastTexts.map((row) => textOf(row.type, row)));
  return pastTexts.map(({ type, id }, place) => ({ type, id, vector: (embeddings[place] as Embedding).vector }));
}
