import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordReads, type RecordedConfig } from '../../src/config/record-reads.ts';
import { createLogger } from '../../src/logger.ts';
import { confidenceBand } from '../../src/memory/confidence.ts';
import {
  capacityPerButler,
  episodeCapacityPerTenant,
  generations,
  isDueForPromotion,
} from '../../src/memory/generation.ts';
import { earnedMaturity, isAntiPattern } from '../../src/memory/rule-maturity.ts';
import { startServer } from '../../src/server.ts';
import { testConfig } from '../support/config.ts';

/** A key that nothing reads is a promise that nothing keeps: the product runs here on a configuration that watches. */
let home: string;
let recorded: RecordedConfig;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'butler-memory-keys-'));
  recorded = recordReads(testConfig({ BUTLER_MEMORY_HOME: home, PORT: '0' }));
});
afterAll(() => rm(home, { recursive: true, force: true }));

it('has every key of the configuration read by something', async () => {
  await serveAndAsk();
  decideWithPolicies();

  expect(recorded.unread()).toEqual([]);
});

async function serveAndAsk(): Promise<void> {
  const server = await startServer(recorded.config, createLogger(recorded.config));
  try {
    await server.started;
    await fetch(`${server.url}/`);
    await graphql(server.url, '{ schedules { name cron enabled description } }');
    await graphql(server.url, 'mutation { storeEpisode(input: { content: "tea", butler: "b" }) { __typename } }');
    await graphql(server.url, 'mutation { storeRule(input: { content: "serve tea" }) { __typename } }');
    await graphql(server.url, '{ search(input: { query: "tea" }) { results { score } } }');
    await graphql(server.url, '{ recall(input: { topic: "tea" }) { results { score } } }');
    await graphql(server.url, '{ context(input: { triggerPrompt: "tea", butler: "b" }) { text } }');
  } finally {
    await server.stop();
  }
}

async function graphql(url: string, query: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect(await response.json()).not.toHaveProperty('errors');
}

/** What the server does not call yet decides by these keys already. */
function decideWithPolicies(): void {
  const { memory } = recorded.config;
  const longAgo = new Date(0);
  const now = new Date();
  confidenceBand(0.1, memory.facts);
  earnedMaturity({ successCount: 100, harmfulCount: 0, createdAt: longAgo }, now, memory.rules);
  earnedMaturity({ successCount: 5, harmfulCount: 0, createdAt: longAgo }, now, memory.rules);
  isAntiPattern({ successCount: 0, harmfulCount: 9, createdAt: longAgo }, memory.rules);
  for (const generation of generations) {
    isDueForPromotion(generation, { referenceCount: 100, createdAt: longAgo }, now, memory);
    capacityPerButler(generation, memory);
  }
  episodeCapacityPerTenant(memory);
}
