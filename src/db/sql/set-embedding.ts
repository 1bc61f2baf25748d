import pgvector from 'pgvector';
import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from './memory-snapshot.ts';

export interface NewEmbedding {
  vector: Float32Array;
  version: { id: string; slot: 'primary' | 'alternate' };
}

/** By hand, because Prisma cannot write a vector. The other slot is emptied: its vector was of an older text. */
export function setEmbedding(
  type: MemoryType,
  { tenantId, id }: { tenantId: string; id: string },
  { vector, version }: NewEmbedding,
): Prisma.Sql {
  const [filled, emptied] =
    version.slot === 'primary' ? ['embedding', 'alternate_embedding'] : ['alternate_embedding', 'embedding'];
  return Prisma.sql`
    UPDATE ${Prisma.raw(memoryTables[type])}
    SET ${Prisma.raw(filled)} = ${pgvector.toSql(Array.from(vector))}::vector,
      ${Prisma.raw(`${filled}_version_id`)} = ${version.id}::uuid,
      ${Prisma.raw(emptied)} = NULL, ${Prisma.raw(`${emptied}_version_id`)} = NULL
    WHERE tenant_id = ${tenantId} AND id = ${id}::uuid`;
}
