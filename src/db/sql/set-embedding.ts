import pgvector from 'pgvector';
import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

export interface NewEmbedding {
  vector: Float32Array;
  version: { id: string; slot: EmbeddingSlot };
}

export type EmbeddingSlot = 'primary' | 'alternate';

const slots = ['primary', 'alternate'] as const satisfies readonly EmbeddingSlot[];

/** The columns of a slot: the vector, and the version that made it. */
export function slotColumns(slot: EmbeddingSlot): { vector: Prisma.Sql; version: Prisma.Sql } {
  const name = slot === 'primary' ? 'embedding' : 'alternate_embedding';
  return { vector: Prisma.raw(name), version: Prisma.raw(`${name}_version_id`) };
}

/** Raw SQL, because Prisma cannot write a vector. Empties a slot without a new vector: the old one was of an older text. */
export function setEmbedding(
  type: MemoryType,
  { tenantId, id }: { tenantId: string; id: string },
  embeddings: readonly NewEmbedding[],
): Prisma.Sql {
  const columns = slots.map(
    (slot) =>
      Prisma.sql`(${slotColumns(slot).vector}, ${slotColumns(slot).version}) = (${slotValues(embeddings, slot)})`,
  );
  return Prisma.sql`
    UPDATE ${Prisma.raw(memoryTables[type])} SET ${Prisma.join(columns)}
    WHERE tenant_id = ${tenantId} AND id = ${id}::uuid`;
}

/** Of both slots, for an INSERT. */
export const vectorColumns = Prisma.join(
  slots.flatMap((slot) => [slotColumns(slot).vector, slotColumns(slot).version]),
);

export function vectorValues(embeddings: readonly NewEmbedding[]): Prisma.Sql {
  return Prisma.join(slots.map((slot) => slotValues(embeddings, slot)));
}

function slotValues(embeddings: readonly NewEmbedding[], slot: EmbeddingSlot): Prisma.Sql {
  const embedding = embeddings.find(({ version }) => version.slot === slot);
  if (embedding === undefined) return Prisma.sql`NULL::vector, NULL::uuid`;
  return Prisma.sql`${vectorText(embedding.vector)}::vector, ${embedding.version.id}::uuid`;
}

/** Every stored vector is written through this, so that one text and one model give the same bits however they come. */
export function vectorText(vector: Float32Array): string {
  return pgvector.toSql(Array.from(vector)) as string;
}
