import type { MemoryContext } from '../src/memory/context.ts';
import { storeEpisode } from '../src/memory/episodes/episodes.ts';
import { createParts, embedPatterns, madeRows, withoutIndexes } from './rows.ts';

/** Tenants of one row a round, and two larger ones. The sum has no divisor in common with the patterns of the rows. */
export const smallTenants = 400;
const slots = { medium: 3, large: 14 };
const rowsPerRound = smallTenants + slots.medium + slots.large;
const rounds = 1500;
const roundsPerStatement = 100;

/** Rows of each tenant, all of them episodes. */
export const tenantRows = { small: rounds, medium: slots.medium * rounds, large: slots.large * rounds };
export const fleetRows = rowsPerRound * rounds;

export function smallTenant(number: number): string {
  return `small-${number}`;
}

/**
 * Fills an empty database with the episodes of the whole fleet, or of its first tenant alone. The rows of all tenants are
 * interleaved, as they are where all of them store something every day.
 */
export async function fillFleet(context: MemoryContext, isAlone: boolean): Promise<void> {
  const { database } = context.db;
  const principal = { ...context.principal, tenantId: 'first' };
  const first = { ...context, principal, db: database.forTenant('first') };
  await storeEpisode(first, { butler: 'bench', content: 'The first episode registers the embedding model' });
  const patterns = await embedPatterns(context);
  await database.asOwner(async (client) => {
    await createParts(client, patterns);
    await client.query(
      `CREATE TEMP TABLE bench_tenants AS
         SELECT place, CASE WHEN place < $1 THEN 'small-' || place WHEN place < $2 THEN 'medium' ELSE 'large' END AS tenant_id
         FROM generate_series(0, $3::int - 1) place WHERE place = 0 OR NOT $4::boolean`,
      [smallTenants, smallTenants + slots.medium, rowsPerRound, isAlone],
    );
    await client.query(
      `INSERT INTO embedding_versions (tenant_id, id, provider, model, dtype, digest, dimensions, slot, status, created_at, activated_at)
       SELECT t.tenant_id, id, provider, model, dtype, digest, dimensions, slot, status, created_at, activated_at
       FROM embedding_versions v, (SELECT DISTINCT tenant_id FROM bench_tenants) t WHERE v.tenant_id = 'first'`,
    );
    await withoutIndexes(client, async () => {
      for (let start = 0; start < rounds; start += roundsPerStatement) {
        await client.query(insertEpisodes, [start * rowsPerRound, (start + roundsPerStatement) * rowsPerRound]);
      }
    });
    await client.query('VACUUM ANALYZE episodes');
  });
}

const insertEpisodes = `
  WITH ${madeRows(`generate_series($1::int, $2::int - 1) n WHERE n % ${rowsPerRound} IN (SELECT place FROM bench_tenants)`)}
  INSERT INTO episodes (tenant_id, id, content, embedding, embedding_version_id, created_at, butler, session_id, expires_at, consolidation_status)
  SELECT t.tenant_id, made.id, content, vector, v.id, at, 'bench', md5(t.tenant_id || n / ${rowsPerRound} / 20)::uuid,
    '2100-01-01', 'consolidated'
  FROM made JOIN bench_tenants t ON t.place = n % ${rowsPerRound} JOIN embedding_versions v USING (tenant_id)
  ORDER BY n`;
