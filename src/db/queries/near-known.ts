import type { TenantClient } from '../database.ts';
import { slotColumns, vectorText, type NewEmbedding } from './embeddings.ts';

/** Lists the states, live ones or replaced ones, and the live rules in sight of a butler that are nearest to a vector. */
export async function listNearestKnown(
  client: TenantClient,
  {
    vector,
    version,
    scopes,
    limit,
  }: Pick<NewEmbedding, 'vector' | 'version'> & { scopes: readonly string[]; limit: number },
): Promise<string[]> {
  const columns = slotColumns(version.slot);
  const rows = await client.$queryRaw<{ id: string }[]>`
    (SELECT id::text AS id, ${columns.vector} <=> ${vectorText(vector)}::vector AS distance FROM facts
    WHERE tenant_id = ${client.tenantId} AND kind = 'state' AND validity IN ('active', 'fading', 'superseded')
      AND scope = ANY (${[...scopes]}::text[]) AND ${columns.version} = ${version.id}::uuid
    ORDER BY distance, id LIMIT ${limit})
    UNION ALL
    (SELECT id::text AS id, ${columns.vector} <=> ${vectorText(vector)}::vector AS distance FROM rules
    WHERE tenant_id = ${client.tenantId} AND validity IN ('active', 'fading')
      AND scope = ANY (${[...scopes]}::text[]) AND ${columns.version} = ${version.id}::uuid
    ORDER BY distance, id LIMIT ${limit})
    ORDER BY distance, id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
