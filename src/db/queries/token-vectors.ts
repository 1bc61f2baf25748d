import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';
import { slotColumns, type EmbeddingSlot } from './embeddings.ts';

export interface TokensQuery {
  version: { id: string; slot: EmbeddingSlot };
  references: readonly { type: MemoryType; id: string }[];
}

/** Lists the word pieces that memories have of a version, by id. One round trip for all queries. */
export async function listTokens(
  db: TenantDatabase,
  queries: readonly TokensQuery[],
): Promise<Map<string, Uint8Array>[]> {
  if (queries.length === 0) return [];
  const answers = await db.roundTrip(queries.map((query) => selectTokens(db.tenantId, query)));
  return answers.map((answer) => {
    const found = Object.entries(JSON.parse(answer ?? '{}') as Record<string, string>);
    return new Map(found.map(([id, tokens]) => [id, Buffer.from(tokens, 'base64')]));
  });
}

function selectTokens(tenantId: string, { version: { id, slot }, references }: TokensQuery): Prisma.Sql {
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
