import type { TenantClient } from '../database.ts';
import { slotColumns, vectorText, type NewEmbedding } from './embeddings.ts';

/** Lists the states in sight of a butler that are nearest to a vector, live ones or replaced ones. */
export async function listNearestFacts(
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
    SELECT id::text AS id FROM facts
    WHERE tenant_id = ${client.tenantId} AND kind = 'state' AND validity IN ('active', 'fading', 'superseded')
      AND scope = ANY (${[...scopes]}::text[]) AND ${columns.version} = ${version.id}::uuid
    ORDER BY ${columns.vector} <=> ${vectorText(vector)}::vector, id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
