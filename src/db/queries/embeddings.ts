import pgvector from 'pgvector';
import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

export const embeddingSlots = ['primary', 'alternate'] as const;
export type EmbeddingSlot = (typeof embeddingSlots)[number];

export interface NewEmbedding {
  vector: Float32Array;
  version: { id: string; slot: EmbeddingSlot };
}

const slotNames = { primary: 'embedding', alternate: 'alternate_embedding' } as const;

/** The columns of a slot: the vector, and the version that made it. */
export function slotColumns(slot: EmbeddingSlot): { vector: Prisma.Sql; version: Prisma.Sql } {
  return { vector: Prisma.raw(slotNames[slot]), version: Prisma.raw(`${slotNames[slot]}_version_id`) };
}

/** Values of the columns of both slots. A slot that gets no vector is emptied: the one that it had was of an older text. */
export function toVectorColumns(embeddings: readonly NewEmbedding[]): Record<string, string | null> {
  const ofSlot = (slot: EmbeddingSlot): [string, string | null][] => {
    const embedding = embeddings.find(({ version }) => version.slot === slot);
    const vector = embedding === undefined ? null : vectorText(embedding.vector);
    return [
      [slotNames[slot], vector],
      [`${slotNames[slot]}_version_id`, embedding?.version.id ?? null],
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
  const { embedding, embedding_version_id, alternate_embedding, alternate_embedding_version_id } =
    toVectorColumns(embeddings);
  await transaction.$executeRaw`
    UPDATE ${Prisma.raw(memoryTables[type])} SET embedding = ${embedding}::vector,
      embedding_version_id = ${embedding_version_id}::uuid, alternate_embedding = ${alternate_embedding}::vector,
      alternate_embedding_version_id = ${alternate_embedding_version_id}::uuid
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
