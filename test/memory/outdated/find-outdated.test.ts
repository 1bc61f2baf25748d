import { afterAll, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { listOutdated } from '../../../src/db/queries/outdated-facts.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { forgetMemory, storeFact } from '../../support/writes.ts';

let core: TestCore;
beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

/** Rows that the transaction has read of each table so far. */
const countRead = Prisma.sql`
  SELECT json_object_agg(relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text
  FROM pg_stat_xact_user_tables WHERE relname IN ('facts', 'memory_events')`;

it('reads each outdated fact and its events once or twice, however often its key has changed', async () => {
  const context = core.context();
  const versions = 120;
  const forgotten = 40;
  for (let version = 0; version < versions; version += 1)
    await storeFact(context, { subject: 'user', predicate: 'mood', content: `calm on day ${version}` });
  for (let index = 0; index < forgotten; index += 1) {
    const { id } = await storeFact(context, { subject: `guest ${index}`, predicate: 'mood', content: 'calm' });
    await forgetMemory(context, { type: 'fact', id });
  }
  const note = await storeFact(context, { subject: 'user', predicate: 'state', content: 'User is calm' });
  let read: Record<string, number> = {};
  const { db } = context;
  const [answer] = await listOutdated(
    {
      ...db,
      roundTrip: async (statements, settings) => {
        const answers = await db.roundTrip([countRead, ...statements, countRead], settings);
        const [before, after] = [answers.at(0), answers.at(-1)].map(
          (text) => JSON.parse(text ?? '{}') as Record<string, number>,
        );
        read = Object.fromEntries(
          Object.entries(after ?? {}).map(([table, count]) => [table, count - (before?.[table] ?? 0)]),
        );
        return answers.slice(1, -1);
      },
    },
    [{ episodeIds: [], noteIds: [note.id], sourcesOf: [], scopes: null, at: context.now() }],
  );

  expect(answer?.facts).toHaveLength(versions - 1 + forgotten);
  const facts = versions + forgotten + 1;
  expect(read['facts']).toBeLessThan(6 * facts);
  expect(read['memory_events']).toBeLessThanOrEqual(4 * forgotten);
});
