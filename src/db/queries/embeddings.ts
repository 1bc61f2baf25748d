import pgvector from 'pgvector';
import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

export const embeddingSlots = ['primary', 'alternate'] as const;
export type EmbeddingSlot = (typeof embeddingSlots)[number];

export interface NewEmbedding {
  vector: Float32Array;
  /** The signs of its word pieces; null where the model knows none. */
  tokens: Uint8Array | null;
  version: { id: string; slot: EmbeddingSlot };
}

const slotNames = { primary: 'embedding', alternate: 'alternate_embedding' } as const;

/** The columns of a slot: the vector, the version that made it, and the word pieces. */
export function slotColumns(slot: EmbeddingSlot): { vector: Prisma.Sql; version: Prisma.Sql; tokens: Prisma.Sql } {
  const name = slotNames[slot];
  return {
    vector: Prisma.raw(name),
    version: Prisma.raw(`${name}_version_id`),
    tokens: Prisma.raw(`${name}_tokens`),
  };
}

/** Types whose word pieces are kept. Episodes have the columns and no use for them yet: no recall reads them. */
const typesWithTokens: ReadonlySet<MemoryType> = new Set<MemoryType>(['fact', 'rule']);

/** The word pieces as the database reads them; null for a type that keeps none. */
export function tokensText(type: MemoryType, tokens: Uint8Array | null): string | null {
  return tokens === null || !typesWithTokens.has(type) ? null : `\\x${Buffer.from(tokens).toString('hex')}`;
}

/** Values of the columns of both slots. A slot that gets no vector is emptied: the one that it had was of an older text. */
export function toVectorColumns(type: MemoryType, embeddings: readonly NewEmbedding[]): Record<string, string | null> {
  const ofSlot = (slot: EmbeddingSlot): [string, string | null][] => {
    const embedding = embeddings.find(({ version }) => version.slot === slot);
    const vector = embedding === undefined ? null : vectorText(embedding.vector);
    return [
      [slotNames[slot], vector],
      [`${slotNames[slot]}_version_id`, embedding?.version.id ?? null],
      [`${slotNames[slot]}_tokens`, tokensText(type, embedding?.tokens ?? null)],
    ];
  };
  return Object.fromEntries(embeddingSlots.flatMap(ofSlot));
}

/** Every stored vector is written through this, so that one text and one model give the same bits however they come. */
export function vectorText(vector: Float32Array): string {
  return pgvector.toSql(Array.from(vector)) as string;
}

/** Writes the vectors of one memory, and records nothing: vectors follow from the text. */
export async function updateEmbeddings(
  transaction: Transaction,
  { type, id }: { type: MemoryType; id: string },
  embeddings: readonly NewEmbedding[],
): Promise<void> {
  const columns = toVectorColumns(type, embeddings);
  await transaction.$executeRaw`
    UPDATE ${Prisma.raw(memoryTables[type])} SET embedding = ${columns['embedding']}::vector,
      embedding_version_id = ${columns['embedding_version_id']}::uuid,
      embedding_tokens = ${columns['embedding_tokens']}::bytea,
      alternate_embedding = ${columns['alternate_embedding']}::vector,
      alternate_embedding_version_id = ${columns['alternate_embedding_version_id']}::uuid,
      alternate_embedding_tokens = ${columns['alternate_embedding_tokens']}::bytea
    WHERE tenant_id = ${transaction.tenantId} AND id = ${id}::uuid`;
}

export interface EmbeddingVersionRow {
  id: string;
  provider: string;
  model: string;
  dtype: string;
  digest: string;
  dimensions: number;
  /** What the text that is embedded looks like: `textForm` when it was registered. */
  textForm: string;
  slot: EmbeddingSlot;
  status: 'building' | 'active' | 'retired';
  createdAt: Date;
  activatedAt: Date | null;
  retiredAt: Date | null;
}

/**
 * Locks the versions in use, in a fixed order: writers that lock them in different orders deadlock. A writer shares them
 * until its transaction ends; what changes them locks them alone, and so comes before or after each writer.
 */
export async function lockEmbeddingVersions(
  transaction: Transaction,
  lock: 'shared' | 'alone',
): Promise<EmbeddingVersionRow[]> {
  return transaction.$queryRaw<EmbeddingVersionRow[]>`
    SELECT id::text, provider, model, dtype, digest, dimensions, text_form AS "textForm", slot, status, created_at AS "createdAt",
      activated_at AS "activatedAt", retired_at AS "retiredAt"
    FROM embedding_versions WHERE tenant_id = ${transaction.tenantId} AND status <> 'retired'
    ORDER BY id ${Prisma.raw(lock === 'alone' ? 'FOR UPDATE' : 'FOR KEY SHARE')}`;
}

/** Lists the dimensions of the two slots. They differ only while, or after, a model of another size takes over. */
export async function listSlotDimensions(client: TenantClient): Promise<{ slot: EmbeddingSlot; dimensions: number }[]> {
  return client.$queryRaw<{ slot: EmbeddingSlot; dimensions: number }[]>`
    SELECT CASE attname WHEN 'embedding' THEN 'primary' ELSE 'alternate' END AS slot, atttypmod AS dimensions
    FROM pg_attribute WHERE attrelid = 'episodes'::regclass AND attname IN ('embedding', 'alternate_embedding')`;
}
