import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';
import { slotColumns, type EmbeddingSlot } from './embeddings.ts';

/** Selects the word pieces that memories have of a version, as a JSON object by id. */
export function selectTokens(
  tenantId: string,
  { id, slot }: { id: string; slot: EmbeddingSlot },
  references: readonly { type: MemoryType; id: string }[],
): Prisma.Sql {
  const { version, tokens } = slotColumns(slot);
  const types = memoryTypes.filter((type) => references.some((reference) => reference.type === type));
  const parts = types.map((type) => {
    const ids = references.filter((reference) => reference.type === type).map((reference) => reference.id);
    return Prisma.sql`
      SELECT m.id, encode(m.${tokens}, 'base64') AS tokens FROM ${Prisma.raw(memoryTables[type])} m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND m.${version} = ${id}::uuid
        AND m.${tokens} IS NOT NULL`;
  });
  return Prisma.sql`SELECT json_object_agg(id, tokens)::text FROM (${Prisma.join(parts, ' UNION ALL ')}) found`;
}

/** Returns what the statement answered, by id. */
export function readTokens(answer: string | null | undefined): Map<string, Uint8Array> {
  const found = Object.entries(JSON.parse(answer ?? '{}') as Record<string, string>);
  return new Map(found.map(([id, tokens]) => [id, Buffer.from(tokens, 'base64')]));
}
