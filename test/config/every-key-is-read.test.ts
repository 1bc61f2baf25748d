import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthenticator } from '../../src/auth/authenticate.ts';
import { recordReads, type RecordedConfig } from '../support/record-reads.ts';
import { sweepEpisodes } from '../../src/lifecycle/cleanup.ts';
import { createCommandEngine } from '../../src/lifecycle/consolidation/engines/command.ts';
import { createLlmEngine } from '../../src/lifecycle/consolidation/engines/llm.ts';
import { sweepDecay } from '../../src/lifecycle/decay.ts';
import { sweepCapacity } from '../../src/lifecycle/eviction.ts';
import { sweepPromotions } from '../../src/lifecycle/promotion.ts';
import { sweepLeftovers } from '../../src/lifecycle/housekeeping.ts';
import { sweepConsolidation } from '../../src/lifecycle/consolidation/consolidate.ts';
import { isBacklogLong } from '../../src/lifecycle/consolidation/claim.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { earnedMaturity, isAntiPattern } from '../../src/memory/rules/rule-maturity.ts';
import { startServer } from '../../src/http/server.ts';
import { claimOf, failureOf, neverAborted } from '../lifecycle/engines/setup.ts';
import { claimNext } from '../lifecycle/consolidation/setup.ts';
import { testConfig } from '../support/config.ts';
import { createTestCore } from '../support/core.ts';
import { failRun, storeEpisode } from '../support/writes.ts';

/** A key that nothing reads is a promise that nothing keeps: the product runs here on a configuration that watches. */
let home: string;
let recorded: RecordedConfig;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'butler-memory-keys-'));
  const { memory, auth, ...config } = testConfig({ BUTLER_MEMORY_HOME: home, PORT: '0' });
  const { consolidation } = memory;
  const llm = { ...consolidation.llm, baseUrl: 'http://127.0.0.1:9/v1', model: 'none', maxCostPerDayUsd: 1 };
  const jwt = { ...auth.jwt, issuer: 'https://login.example', audience: 'a', keyFile: '/none' };
  const command = { ...consolidation.command, command: ['butler-memory-no-such-program'] };
  recorded = recordReads({
    ...config,
    auth: { ...auth, jwt },
    redaction: { ...config.redaction, cards: 'hash', hashKey: 'a key' },
    memory: { ...memory, consolidation: { ...consolidation, llm, command } },
  });
});
afterAll(() => rm(home, { recursive: true, force: true }));

it('has every key of the configuration read by something', async () => {
  await serveAndAsk();
  await askEngines();
  await sweepAll();
  await consolidate();
  await askWhoCalls();
  decideWithPolicies();

  expect(recorded.unread()).toEqual([]);
});

async function serveAndAsk(): Promise<void> {
  const server = await startServer(recorded.config, createLogger(recorded.config));
  try {
    await server.started;
    await fetch(`${server.url}/`);
    await graphql(server.url, '{ schedules { name cron enabled description } }');
    await graphql(
      server.url,
      'mutation { storeEpisode(input: { content: "tea for 4111 1111 1111 1111", butler: "b" }) { __typename } }',
    );
    await graphql(server.url, 'mutation { storeRule(input: { content: "serve tea" }) { __typename } }');
    await graphql(server.url, '{ search(input: { query: "tea" }) { results { score } } }');
    await graphql(server.url, '{ recall(input: { topic: "tea" }) { results { score } } }');
    await graphql(server.url, '{ context(input: { triggerPrompt: "tea", butler: "b" }) { text } }');
  } finally {
    await server.stop();
  }
}

/** It fails, as there is no such key. By then it has read it all. */
async function askWhoCalls(): Promise<void> {
  const core = await createTestCore(recorded.config);
  try {
    const config = {
      ...recorded.config,
      auth: { mode: 'required' as const, accessRetentionDays: 1, jwt: recorded.config.auth.jwt },
    };
    const authenticator = createAuthenticator({ ...core, config });
    await expect(authenticator.authenticate('Bearer nonsense')).rejects.toThrow('butler.auth.jwt.key_file');
  } finally {
    await core.close();
  }
}

/** Both fail: the one as nobody listens there, the other as there is no such program. By then they have read it all. */
async function askEngines(): Promise<void> {
  const core = await createTestCore(recorded.config);
  try {
    const context = core.context({ role: 'admin' });
    const claim = claimOf(['tea']);
    for (const createEngine of [createLlmEngine, createCommandEngine]) {
      const error = await failureOf(createEngine(recorded.config).extract(context, claim, neverAborted));
      expect(error.message).toMatch(/could not be (reached|started)/);
    }
  } finally {
    await core.close();
  }
}

/** A sweep reads its limits whether it finds anything or not. */
async function sweepAll(): Promise<void> {
  const core = await createTestCore(recorded.config);
  try {
    for (const sweep of [sweepDecay, sweepEpisodes, sweepPromotions, sweepCapacity, sweepLeftovers]) {
      await sweep(core.context({ role: 'admin' }), { dryRun: true });
    }
  } finally {
    await core.close();
  }
}

/** The second sweep finds what failed in the first. */
async function consolidate(): Promise<void> {
  const core = await createTestCore(recorded.config);
  try {
    const context = core.context({ role: 'admin' });
    await storeEpisode(context, { butler: 'b', content: 'tea' });
    await isBacklogLong(context);
    const { runId } = await claimNext(context);
    await failRun(context, runId, { reason: 'no tea', retryable: true });
    core.clock.now = core.day(1);
    await sweepConsolidation(context, { dryRun: false });
  } finally {
    await core.close();
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
  earnedMaturity({ successCount: 100, harmfulCount: 0, createdAt: longAgo }, now, memory.rules);
  earnedMaturity({ successCount: 5, harmfulCount: 0, createdAt: longAgo }, now, memory.rules);
  isAntiPattern({ successCount: 0, harmfulCount: 9, createdAt: longAgo }, memory.rules);
}
