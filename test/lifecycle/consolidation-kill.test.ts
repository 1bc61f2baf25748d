import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { testConfig } from '../support/config.ts';
import type { ConsolidationWorkerInput } from '../support/consolidation-worker.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../support/database.ts';
import { drill } from '../support/drill.ts';
import { expectNoDifference } from '../support/verify.ts';
import { configWith } from './consolidation/setup.ts';
import { killChild, startTypescript } from '../support/run-typescript.ts';

const tenantId = 'tenant-a';
const { episodeCount, kills } = drill({
  sample: { episodeCount: 200, kills: 5 },
  all: { episodeCount: 2000, kills: 50 },
});
const butlerCount = 20;
const workerCount = 2;
const seed = 20_261_116;

let scratch: TestDatabase;

// PGlite has one process: there are no two workers to kill.
describe.skipIf(testEngine !== 'postgres')('workers that are killed', () => {
  beforeAll(async () => {
    scratch = await createTestDatabase();
    await storeEpisodes();
  });
  afterAll(() => scratch.drop());

  it(`leave every episode done once, after ${kills} kills at random moments (seed ${seed})`, async () => {
    const random = createRandom(seed);
    let killsLeft = kills;
    const work = async (): Promise<void> => {
      while (killsLeft > 0) {
        killsLeft--;
        if (await liveUntil({ lines: 1 + Math.floor(random() * 16), delayMs: random() * 20 })) break;
      }
      while (!(await liveUntil(null)));
    };
    await Promise.all(Array.from({ length: workerCount }, work));

    const client = scratch.database.forTenant(tenantId).client;
    const episodes = await client.episode.findMany();
    const dead = episodes.filter((episode) => episode.consolidationStatus === 'dead_letter');
    const done = episodes.filter((episode) => episode.consolidationStatus === 'consolidated');
    expect(done.length + dead.length).toBe(episodeCount);

    const links = await client.memoryLink.findMany({ where: { relation: 'derived_from' } });
    const cited = links.map(({ targetId }) => targetId);
    expect(cited.toSorted()).toEqual(done.map(({ id }) => id).toSorted());
    const ends = await client.memoryEvent.findMany({
      where: { eventType: { in: ['episode.consolidated', 'episode.dead_lettered', 'episode.failed'] } },
      select: { entityId: true },
    });
    expect(ends.map(({ entityId }) => entityId).toSorted()).toEqual(episodes.map(({ id }) => id).toSorted());

    const runs = await client.consolidationRun.findMany();
    const facts = await client.fact.findMany();
    const succeeded = runs.filter(({ status }) => status === 'succeeded');
    expect(facts.map(({ subject }) => subject).toSorted()).toEqual(succeeded.map(({ id }) => id).toSorted());
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['succeeded', 'lost']));
    await expectNoDifference({ db: scratch.database, vault: createVault(testConfig(), createLogger(testConfig())) });
  });
});

/** True when the worker came to its end; false when it was killed so many lines and milliseconds after its start. */
async function liveUntil(end: { lines: number; delayMs: number } | null): Promise<boolean> {
  const config = configWith({ batchSize: 16, leaseSeconds: 1, maxAttempts: 5, retryBaseSeconds: 1 });
  const input: ConsolidationWorkerInput = { options: scratch.options, tenantId, config };
  const child = startTypescript('consolidation-worker', input);
  child.stderr.pipe(process.stderr);
  let lines = 0;
  let isFinished = false;
  for await (const line of createInterface({ input: child.stdout })) {
    isFinished ||= line === 'finished';
    if (++lines === end?.lines) setTimeout(() => child.kill('SIGKILL'), end.delayMs);
  }
  await killChild(child);
  if (!isFinished && child.signalCode !== 'SIGKILL')
    throw new Error(`the worker ended by itself, with ${child.exitCode}`);
  return isFinished;
}

async function storeEpisodes(): Promise<void> {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + 86_400_000);
  await scratch.database.asOwner((client) =>
    client.query(
      `WITH stored AS (
         INSERT INTO episodes (tenant_id, id, butler, content, created_at, expires_at)
         SELECT $1, gen_random_uuid(), 'butler ' || n % $2, 'episode ' || n, $3, $4 FROM generate_series(1, $5::int) n
         RETURNING *
       )
       INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id, payload)
       SELECT tenant_id, gen_random_uuid(), 'episode.stored', 'episode', id::text, $3, 'test', 'test',
         jsonb_build_object('before', NULL, 'after', to_jsonb(stored))
       FROM stored`,
      [tenantId, butlerCount, now, expiresAt, episodeCount],
    ),
  );
}

/** The same numbers for the same seed (mulberry32). */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
