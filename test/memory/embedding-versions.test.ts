import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modelKey, type Embedder } from '../../src/embedding/embedder.ts';
import type { EmbeddingVersion } from '../../src/generated/prisma/client.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { findModelChanges } from '../../src/memory/embedding-versions.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { storeEpisode } from '../support/writes.ts';

let testApp: TestApp;

beforeEach(async () => {
  testApp = await createTestApp();
});
afterEach(() => testApp.close());

/** The same vectors under another name: what changes when weights change. It knows the others that are given. */
function underAnotherDigest(embedder: Embedder, digest: string, others: Embedder[] = []): Embedder {
  const own: Embedder = {
    model: { ...embedder.model, digest },
    load: () => embedder.load(),
    status: () => embedder.status(),
    embed: (texts) => embedder.embed(texts),
    embedQuery: (text) => embedder.embedQuery(text),
    findFor: async (model) =>
      [own, ...others].find((candidate) => modelKey(candidate.model) === modelKey(model)) ?? null,
    close: () => embedder.close(),
  };
  return own;
}

function store(embedder: Embedder, content: string): Promise<{ id: string }> {
  const context: MemoryContext = { ...testApp.app.createContext().memory, embedder };
  return storeEpisode(context, { content, butler: 'general' });
}

function readVersions(): Promise<EmbeddingVersion[]> {
  return testApp.core.db.forTenant('default').client.embeddingVersion.findMany({ orderBy: { id: 'asc' } });
}

async function readSlots(): Promise<unknown> {
  return testApp.core.db.forTenant('default').transaction(
    (transaction) => transaction.$queryRaw`
      SELECT content, embedding IS NOT NULL AS primary, alternate_embedding IS NOT NULL AS alternate
      FROM episodes ORDER BY id`,
  );
}

describe('the version of an embedding model', () => {
  it('is registered at its first use, active, with one event, and used again', async () => {
    expect(await readVersions()).toEqual([]);
    await store(testApp.core.embedder, 'one');
    await store(testApp.core.embedder, 'two');

    expect(await readVersions()).toMatchObject([
      { provider: 'hashing', model: 'feature-hashing-v1', dimensions: 384, slot: 'primary', status: 'active' },
    ]);
    const events = await testApp.core.db
      .forTenant('default')
      .client.memoryEvent.findMany({ where: { entityType: 'embedding_version' } });
    expect(events).toMatchObject([{ eventType: 'embedding_version.registered' }]);
  });

  it('is registered once by writers that come first together', async () => {
    await Promise.all(['one', 'two', 'three', 'four'].map((content) => store(testApp.core.embedder, content)));

    expect(await readVersions()).toHaveLength(1);
  });

  it('keeps the vectors of another model apart, in the other slot', async () => {
    await store(testApp.core.embedder, 'old');
    await store(underAnotherDigest(testApp.core.embedder, 'other'), 'new');

    expect(await readVersions()).toMatchObject([
      { slot: 'primary', status: 'active' },
      { slot: 'alternate', status: 'building', digest: 'other' },
    ]);
    expect(await readSlots()).toEqual([
      { content: 'old', primary: true, alternate: false },
      { content: 'new', primary: false, alternate: true },
    ]);
  });

  it('of another model is not begun by a write, as long as the model of the stored vectors is here', async () => {
    await store(testApp.core.embedder, 'old');
    await store(underAnotherDigest(testApp.core.embedder, 'other', [testApp.core.embedder]), 'new');

    expect(await readVersions()).toMatchObject([{ slot: 'primary', status: 'active' }]);
    expect(await readSlots()).toEqual([
      { content: 'old', primary: true, alternate: false },
      { content: 'new', primary: true, alternate: false },
    ]);
  });

  it('that is building gets its vector of every new row, beside that of the active one', async () => {
    const other = underAnotherDigest(testApp.core.embedder, 'other');
    const both = underAnotherDigest(testApp.core.embedder, 'other', [testApp.core.embedder]);
    await store(testApp.core.embedder, 'old');
    await store(other, 'begins it');
    await store(both, 'new');

    expect(await readSlots()).toEqual([
      { content: 'old', primary: true, alternate: false },
      { content: 'begins it', primary: false, alternate: true },
      { content: 'new', primary: true, alternate: true },
    ]);
  });

  it('is refused as a third one while two are in use', async () => {
    await store(testApp.core.embedder, 'old');
    await store(underAnotherDigest(testApp.core.embedder, 'second'), 'new');

    await expect(store(underAnotherDigest(testApp.core.embedder, 'third'), 'newer')).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await readSlots()).toHaveLength(2);
  });
});

describe('a changed model', () => {
  it('is reported for each tenant that has vectors of another one', async () => {
    await store(testApp.core.embedder, 'old');
    const changed = underAnotherDigest(testApp.core.embedder, 'other');

    expect(await findModelChanges(testApp.core.db, testApp.core.embedder.model)).toEqual([]);
    expect(await findModelChanges(testApp.core.db, changed.model)).toEqual([
      { tenantId: 'default', stored: testApp.core.embedder.model, configured: changed.model },
    ]);
  });
});
