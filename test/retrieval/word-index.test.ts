import { expect, it } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { newTenant, useRetrieval } from './setup.ts';
import { storeEpisode } from '../support/writes.ts';

const retrieval = useRetrieval();
const match = Prisma.sql`SELECT count(*)::int AS count FROM memory_matches('episode', 'tea'::tsquery, NULL, NULL, ${new Date(0)}::timestamptz, NULL) m`;
const newest = Prisma.sql`SELECT count(*)::int AS count FROM memory_newest_matches('episode', 'tea'::tsquery, NULL, NULL, ${new Date(0)}::timestamptz, 10) m`;
const count = Prisma.sql`SELECT memory_match_count('episode', 'tea'::tsquery, NULL, NULL, ${new Date(0)}::timestamptz, 10)::int AS count`;

it.each([
  ['memory_matches', match],
  ['memory_newest_matches', newest],
  ['memory_match_count', count],
])('%s sees the rows of the tenant that the transaction has entered, and no others', async (_, statement) => {
  const context = retrieval.context({ principal: newTenant() });
  await storeEpisode(context, { butler: 'alfred', content: 'tea' });
  const seen = async (tenantId: string): Promise<unknown> =>
    context.db.database.forTenant(tenantId).client.$queryRaw(statement);

  expect(await seen(context.principal.tenantId)).toEqual([{ count: 1 }]);
  expect(await seen(newTenant().tenantId)).toEqual([{ count: 0 }]);
});

it('keeps all of them from whoever has entered no tenant', async () => {
  const { database: db } = retrieval.context().db;

  await expect(db.queueQuery(`SELECT memory_match_count('episode', 'tea', NULL, NULL, now(), 10)`)).rejects.toThrow();
  await expect(
    db.queueQuery(`SELECT memory_newest_matches('episode', 'tea', NULL, NULL, now(), 10)`),
  ).rejects.toThrow();
  await expect(db.queueQuery(`SELECT memory_rows_estimate('episode')`)).rejects.toThrow();
  await expect(db.queueQuery(`SELECT memory_matches('episode', 'tea', NULL, NULL, now(), NULL)`)).rejects.toThrow();
  const { rows } = await db.asOwner((client) =>
    client.query(`SELECT memory_match_count('episode', 'tea', NULL, NULL, now(), 10)::int AS count`),
  );
  expect(rows).toEqual([{ count: 0 }]);
});

it('counts no further than asked, and estimates no rows but those of the tenant', async () => {
  const context = retrieval.context({ principal: newTenant() });
  for (const content of ['green tea', 'black tea', 'mint tea'])
    await storeEpisode(context, { butler: 'alfred', content });
  const counted = (most: number): Prisma.Sql =>
    Prisma.sql`SELECT memory_match_count('episode', 'tea'::tsquery, NULL, NULL, ${new Date(0)}::timestamptz, ${most}::int)`;

  expect(await context.db.roundTrip([counted(2), counted(3), counted(4)])).toEqual(['2', '3', '3']);

  await context.db.database.asOwner((client) => client.query('ANALYZE episodes'));
  const estimate = Prisma.sql`SELECT memory_rows_estimate('episode')`;
  expect(await context.db.roundTrip([estimate])).toEqual(['3']);
});

it('takes the newest of a frequent word in the same order as those of any other', async () => {
  const context = retrieval.context({ principal: newTenant() });
  for (const content of ['one', 'two', 'three', 'four']) {
    await storeEpisode(context, { butler: 'alfred', content: `${content} tea` });
  }
  const listed = (name: string): Prisma.Sql => Prisma.sql`
    SELECT string_agg(id::text, ' ') FROM ${Prisma.raw(name)}('episode', 'tea', 'alfred', NULL, ${new Date(0)}::timestamptz, 3) id`;
  const [any, frequent] = await context.db.roundTrip([listed('memory_matches'), listed('memory_newest_matches')]);

  expect(any?.split(' ')).toHaveLength(3);
  expect(frequent).toBe(any);
});
