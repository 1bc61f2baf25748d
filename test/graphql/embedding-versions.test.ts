import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embedderOptions } from '../../src/create-memory.ts';
import { alignVectorDimensions } from '../../src/db/vector-dimensions.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import type { Embedder } from '../../src/embedding/embedder.ts';
import { ModelHealth } from '../../src/lifecycle/model-health.ts';
import { sweepEmbeddings } from '../../src/lifecycle/reembed.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { ingestEpisodes } from '../support/writes.ts';

let testApp: TestApp;
let small: Embedder;

beforeEach(async () => {
  testApp = await createTestApp();
  const { config, logger, db } = testApp.core;
  small = await createEmbedder({ ...embedderOptions(config, logger), dimensions: 64 });
  const episodes = Array.from({ length: 200 }, (_, index) => ({ butler: 'general', content: `note ${index}` }));
  await ingestEpisodes(testApp.app.createContext().memory, episodes);
  await alignVectorDimensions(db, 64);
});
afterEach(async () => {
  await small.close();
  await testApp.close();
});

async function ask(query: string): Promise<unknown> {
  const response = await testApp.app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    }),
  );
  return ((await response.json()) as { data: unknown }).data;
}

function sweep(signal?: AbortSignal, progress?: () => void): ReturnType<typeof sweepEmbeddings> {
  const context = { ...testApp.app.createContext().memory, embedder: small };
  return sweepEmbeddings(context, { dryRun: false, signal, progress });
}

async function stopHalfway(): Promise<void> {
  const stop = new AbortController();
  let told = 0;
  await sweep(stop.signal, () => (++told === 2 ? stop.abort() : undefined));
}

describe('the embedding versions', () => {
  it('tell how many memories have the vectors of each', async () => {
    await stopHalfway();

    expect(await ask('{ embeddingVersions { status dimensions done total provider activatedAt } }')).toEqual({
      embeddingVersions: [
        {
          status: 'active',
          dimensions: 384,
          done: 200,
          total: 200,
          provider: 'hashing',
          activatedAt: expect.any(String),
        },
        { status: 'building', dimensions: 64, done: 128, total: 200, provider: 'hashing', activatedAt: null },
      ],
    });
  });
});

describe('the health of the model', () => {
  function describeHealth(embedder: Embedder): Promise<string[]> {
    return new ModelHealth({ db: testApp.core.db, embedder }).read();
  }

  it('says that re-embedding has not begun, how far it is, and nothing when it is over', async () => {
    expect(await describeHealth(testApp.core.embedder)).toEqual([]);
    expect(await describeHealth(small)).toEqual([
      expect.stringMatching(/^vectors are of hashing .*384 dimensions.*configured is .*64 dimensions.*has not begun$/),
    ]);
    await stopHalfway();
    expect(await describeHealth(small)).toEqual(['re-embedding: 128 of 200']);
    await sweep();
    expect(await describeHealth(small)).toEqual([]);
  });

  it('says that search has the words alone when the old model is not here', async () => {
    await stopHalfway();
    const alone: Embedder = {
      model: small.model,
      load: () => small.load(),
      status: () => small.status(),
      embed: (texts) => small.embed(texts),
      embedQuery: (text) => small.embedQuery(text),
      findFor: async () => null,
      close: () => small.close(),
    };

    expect(await describeHealth(alone)).toEqual([
      're-embedding: 128 of 200',
      expect.stringMatching(/is not on this machine: until the switch, search has the words alone$/),
    ]);
  });

  it('is part of the health of the server', async () => {
    await stopHalfway();
    const { checks } = await testApp.app.health.read();

    expect(checks.find(({ name }) => name === 'model')).toEqual({
      name: 'model',
      status: 'degraded',
      detail: 're-embedding: 128 of 200',
    });
  });
});
