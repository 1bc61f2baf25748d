import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alignVectorDimensions } from '../../src/db/vector-dimensions.ts';
import { sweepEmbeddings } from '../../src/lifecycle/reembed.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import { embedderOptions } from '../../src/create-memory.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeEpisode } from '../support/writes.ts';

let core: TestCore;
beforeEach(async () => {
  core = await createTestCore();
});
afterEach(() => core.close());

/** As the database describes its columns, with the indexes and checks that belong to them. */
async function describeColumns(): Promise<Record<string, string[]>> {
  const columns = `
    SELECT attname || ' ' || format_type(atttypid, atttypmod) AS line FROM pg_attribute
    WHERE attrelid IN ('episodes'::regclass, 'facts'::regclass, 'rules'::regclass) AND attname IN ('embedding', 'alternate_embedding')
    GROUP BY 1 ORDER BY 1`;
  const indexes = `SELECT indexname AS line FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%' ORDER BY 1`;
  const checks = `SELECT conname AS line FROM pg_constraint WHERE conname LIKE '%embedding_check' ORDER BY 1`;
  const read = async (sql: string): Promise<string[]> => {
    const { rows } = await core.db.asOwner((client) => client.query<{ line: string }>(sql));
    return rows.map(({ line }) => line);
  };
  return { columns: await read(columns), indexes: await read(indexes), checks: await read(checks) };
}

async function openSmall(dimensions: number): ReturnType<typeof createEmbedder> {
  return createEmbedder({ ...embedderOptions(core.config, core.logger), dimensions });
}

describe('the size of the vector columns', () => {
  it('is that of the configured model in a fresh database, whose indexes and checks stay as they were', async () => {
    const before = await describeColumns();
    await alignVectorDimensions(core.db, 64);

    expect(await describeColumns()).toEqual({
      ...before,
      columns: ['alternate_embedding vector(64)', 'embedding vector(64)'],
    });
  });

  it('stays in a slot that is in use, and changes in the other', async () => {
    await storeEpisode(core.context(), { butler: 'general', content: 'tea' });
    await alignVectorDimensions(core.db, 64);
    const expected = ['alternate_embedding vector(64)', 'embedding vector(384)'];
    expect((await describeColumns())['columns']).toEqual(expected);

    await alignVectorDimensions(core.db, 64);
    expect((await describeColumns())['columns']).toEqual(expected);
  });

  it('stays while a version is being built, even without a vector yet, and a third size is refused', async () => {
    await storeEpisode(core.context(), { butler: 'general', content: 'tea' });
    await alignVectorDimensions(core.db, 64);
    const small = await openSmall(64);
    const stopped = AbortSignal.abort();
    await sweepEmbeddings({ ...core.context(), embedder: small }, { dryRun: false, signal: stopped });
    await small.close();

    await alignVectorDimensions(core.db, 384);
    expect((await describeColumns())['columns']).toContain('alternate_embedding vector(64)');
    await expect(alignVectorDimensions(core.db, 100)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message:
        'butler.memory.embedding_dimensions must be 384 or 64, as both vector slots hold vectors of that size (got 100)',
    });
  });

  it('lets a model without room be refused by name when its first row comes', async () => {
    const small = await openSmall(64);
    await expect(
      storeEpisode({ ...core.context(), embedder: small }, { butler: 'general', content: 'tea' }),
    ).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining('384 dimensions in slot primary'),
    });
    await small.close();
  });
});
