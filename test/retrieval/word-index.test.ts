import { expect, it } from 'vitest';
import { storeEpisode } from '../../src/memory/episodes.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { newTenant, useRetrieval } from './setup.ts';

const retrieval = useRetrieval();
const match = Prisma.sql`SELECT count(*)::int AS count FROM memory_matches('episode', 'tea'::tsquery, NULL, NULL, ${new Date(0)}::timestamptz, NULL) m`;
const count = Prisma.sql`SELECT memory_match_count('episode', 'tea'::tsquery, NULL, NULL, ${new Date(0)}::timestamptz)::int AS count`;

it.each([
  ['memory_matches', match],
  ['memory_match_count', count],
])('%s sees the rows of the tenant that the transaction has entered, and no others', async (_, statement) => {
  const context = retrieval.context({ principal: newTenant() });
  await storeEpisode(context, { butler: 'alfred', content: 'tea' });
  const seen = async (tenantId: string): Promise<unknown> => context.db.tenant(tenantId).$queryRaw(statement);

  expect(await seen(context.principal.tenantId)).toEqual([{ count: 1 }]);
  expect(await seen(newTenant().tenantId)).toEqual([{ count: 0 }]);
});

it('keeps both from whoever has entered no tenant', async () => {
  const { db } = retrieval.context();

  await expect(db.queueQuery(`SELECT memory_match_count('episode', 'tea', NULL, NULL, now())`)).rejects.toThrow();
  await expect(db.queueQuery(`SELECT memory_matches('episode', 'tea', NULL, NULL, now(), NULL)`)).rejects.toThrow();
  const { rows } = await db.asOwner((client) =>
    client.query(`SELECT memory_match_count('episode', 'tea', NULL, NULL, now())::int AS count`),
  );
  expect(rows).toEqual([{ count: 0 }]);
});
