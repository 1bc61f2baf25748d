import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepEpisodes } from '../../src/lifecycle/cleanup.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { listChanges } from '../../src/memory/history/diff.ts';
import type { Episode } from '../../src/memory/episodes/episodes.ts';
import { findMemoryAsOf, readHistory } from '../../src/memory/history/history.ts';
import { loadEnds } from '../../src/memory/links/link-graph.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { execute, newScene, type Scene } from './support.ts';
import { forgetMemory, ingestEpisodes, linkMemories, storeEpisode, undoEvent } from '../support/writes.ts';

let core: TestCore;
let scene: Scene;

beforeAll(async () => {
  core = await createTestCore();
});
beforeEach(() => {
  scene = newScene(core);
});
afterAll(() => core.close());

const context = (): MemoryContext => scene.context();
const none = { expired: 0, evicted: 0, removed: 0, failed: 0 };
const secret = 'the combination of the safe is 4711';

const store = (butler = 'alfred', content = secret): Promise<Episode> =>
  storeEpisode(context(), { content, butler, sessionId: randomUUID(), tags: [secret], metadata: { said: secret } });

/** As consolidation does it, with an event, so that the tables still are what the events say. */
async function setStatus({ id }: Episode, status: string): Promise<void> {
  await execute(scene, 'UPDATE episodes SET consolidation_status = $2 WHERE id = $1', [id, status]);
  await execute(
    scene,
    `INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id, payload)
     SELECT tenant_id, memory_new_id($2), 'episode.consolidated', 'episode', entity_id, $2, 'test', 'test',
       jsonb_set(payload, '{after,consolidation_status}', to_jsonb($3::text))
     FROM memory_events WHERE entity_id = $1 AND event_type = 'episode.stored'`,
    [id, core.clock.now, status],
  );
}

async function isThere({ id }: Episode): Promise<boolean> {
  return (await scene.client.episode.count({ where: { id } })) === 1;
}

const withEpisodes = (limits: { perButler?: number; perTenant?: number }): MemoryContext => {
  const { memory } = core.config;
  const eden = { ...memory.eden, maxEntries: limits.perButler ?? 1000 };
  const episodes = { ...memory.episodes, maxEntries: limits.perTenant ?? 10_000 };
  return { ...context(), config: { ...core.config, memory: { ...memory, eden, episodes } } };
};

/** The sweep with these limits, in whichever context it is run. */
const limited =
  (limits: { perButler?: number; perTenant?: number }): typeof sweepEpisodes =>
  (_context, options) =>
    sweepEpisodes(withEpisodes(limits), options);

describe('an episode past its time', () => {
  it('is deleted from the moment of its expiry if nothing is to be done with it any more', async () => {
    const episodes = [];
    for (const status of ['consolidated', 'failed', 'dead_letter']) {
      const episode = await store();
      await setStatus(episode, status);
      episodes.push(episode);
    }
    core.clock.now = new Date(core.day(7).getTime() - 1);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual(none);
    core.clock.now = core.day(7);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual({ ...none, expired: 3 });
    expect(await Promise.all(episodes.map(isThere))).toEqual([false, false, false]);
  });

  it('that waits to be consolidated is kept for the days of grace', async () => {
    const episode = await store();
    core.clock.now = new Date(core.day(14).getTime() - 1);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual(none);
    core.clock.now = core.day(14);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual({ ...none, expired: 1 });
    expect(await isThere(episode)).toBe(false);
  });

  it('that was forgotten has no grace', async () => {
    const episode = await store();
    await forgetMemory(context(), { type: 'episode', id: episode.id });
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual(none);
    core.clock.now = core.day(7);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual({ ...none, expired: 1 });
  });

  it('that a consolidation holds is left until its lease ends', async () => {
    const episode = await store();
    await execute(
      scene,
      `INSERT INTO consolidation_runs (tenant_id, id, butler, engine, status, worker, lease_expires_at, started_at, episode_ids)
       VALUES ($1, $2, 'alfred', 'patterns', 'running', 'test', $3, $4, $5)`,
      [scene.tenantId, randomUUID(), core.day(20), core.start, [episode.id]],
    );
    core.clock.now = new Date(core.day(20).getTime() - 1);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual(none);
    core.clock.now = core.day(20);
    expect(await scene.sweepOnce(sweepEpisodes)).toEqual({ ...none, expired: 1 });
  });

  it('leaves a tombstone and an event without a word of what it said', async () => {
    const episode = await store();
    core.clock.now = core.day(14);
    await sweepEpisodes(context(), { dryRun: false });
    const tombstone = await scene.client.episodeTombstone.findFirstOrThrow({ where: { id: episode.id } });
    const { butler, sessionId, createdAt } = episode;

    expect(tombstone).toMatchObject({ butler, sessionId, createdAt, reason: 'expired', deletedAt: core.clock.now });
    const where = { entityId: episode.id, eventType: 'episode.expired' };
    const { payload } = await scene.client.memoryEvent.findFirstOrThrow({ where });
    expect(payload).toMatchObject({ before: { id: episode.id, butler: 'alfred', version: 1 }, after: null });
    expect(JSON.stringify(payload)).not.toContain('4711');
  });

  it('is still cited by its id, with nothing but its tombstone behind it', async () => {
    const episode = await store();
    const fact = await scene.fact({ sourceEpisodeId: episode.id });
    core.clock.now = core.day(14);
    await sweepEpisodes(context(), { dryRun: false });
    const reference = { type: 'episode', id: episode.id } as const;

    expect([...(await loadEnds(context(), [reference])).values()]).toEqual([
      {
        kind: 'tombstone',
        tombstone: { ...reference, reason: 'expired', createdAt: episode.createdAt, deletedAt: core.clock.now },
      },
    ]);
    expect(await scene.client.memoryLink.count({ where: { sourceId: fact.id, targetId: episode.id } })).toBe(1);
    await linkMemories(context(), { source: reference, target: { type: 'fact', id: fact.id }, relation: 'supports' });
    expect(await findDifferences(context())).toEqual([]);
  });

  it('is still there as of a day before, and among what changed since', async () => {
    const episode = await store();
    core.clock.now = core.day(14);
    await sweepEpisodes(context(), { dryRun: false });
    const reference = { type: 'episode', id: episode.id } as const;

    expect(await findMemoryAsOf(context(), reference, core.day(3))).toMatchObject({ content: secret });
    expect(await findMemoryAsOf(context(), reference, core.day(14))).toBeNull();
    expect(await findDifferences(context(), core.day(3))).toEqual([]);
    expect((await readHistory(context(), reference)).map(({ memory }) => memory === null)).toEqual([false, true]);
    const { changes } = await listChanges(
      context(),
      { from: core.day(13), to: core.day(15) },
      { offset: 0, limit: 10 },
    );
    expect(changes).toMatchObject([{ id: episode.id, kind: 'removed', before: { content: secret }, after: null }]);
  });

  it('is gone for good: no undo brings it back, and each says why', async () => {
    const episode = await store();
    core.clock.now = core.day(14);
    await sweepEpisodes(context(), { dryRun: false });

    await expect(
      undoEvent(context(), { eventId: await scene.lastEvent(episode.id, 'episode.expired') }),
    ).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
      message: expect.stringContaining('for good, and cannot be undone') as string,
    });
    await expect(
      undoEvent(context(), { eventId: await scene.lastEvent(episode.id, 'episode.stored') }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('that cannot be deleted does not keep the others', async () => {
    const episodes = [await store(), await store(), await store()];
    const bad = episodes[1]?.id ?? '';
    await execute(
      scene,
      `CREATE FUNCTION refuse_deletion() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'not this one'; END $$`,
    );
    await execute(
      scene,
      `CREATE TRIGGER refuse_deletion BEFORE DELETE ON episodes FOR EACH ROW WHEN (OLD.id = '${bad}')
       EXECUTE FUNCTION refuse_deletion()`,
    );
    core.clock.now = core.day(14);

    expect(await sweepEpisodes(context(), { dryRun: false })).toEqual({ ...none, expired: 2, failed: 1 });
    expect(await scene.client.episodeTombstone.count({ where: { id: bad } })).toBe(0);
    expect(await findDifferences(context())).toEqual([]);
    await execute(scene, 'DROP TRIGGER refuse_deletion ON episodes');
  });
});

describe('more episodes than there is room for', () => {
  /** One a minute, all consolidated but those at these places. */
  async function storeMany(
    butler: string,
    count: number,
    unconsolidated: Record<number, string> = {},
  ): Promise<Episode[]> {
    const episodes: Episode[] = [];
    for (let place = 0; place < count; place++) {
      core.clock.now = new Date(core.clock.now.getTime() + 60_000);
      const episode = await store(butler);
      const status = unconsolidated[place] ?? 'consolidated';
      if (status !== 'pending') await setStatus(episode, status);
      episodes.push(episode);
    }
    return episodes;
  }

  it('lose the oldest consolidated ones of the tenant, and none of the others', async () => {
    const episodes = await storeMany('alfred', 6, { 0: 'pending', 2: 'dead_letter', 3: 'failed' });

    expect(await scene.sweepOnce(limited({ perTenant: 4 }))).toEqual({ ...none, evicted: 2 });
    expect(await Promise.all(episodes.map(isThere))).toEqual([true, false, true, true, false, true]);
    const tombstones = await scene.client.episodeTombstone.findMany();
    expect(tombstones.map(({ reason }) => reason)).toEqual(['capacity', 'capacity']);
    expect((await scene.eventTypesOf(episodes[1]?.id ?? '')).at(-1)).toBe('episode.evicted');
  });

  it('stay over it when nothing is consolidated', async () => {
    await storeMany('alfred', 3, { 0: 'pending', 1: 'pending', 2: 'dead_letter' });

    expect(await scene.sweepOnce(limited({ perTenant: 1, perButler: 1 }))).toEqual(none);
  });

  it('of one butler lose those that were not asked for the longest', async () => {
    const alfred = await storeMany('alfred', 4);
    const jeeves = await storeMany('jeeves', 2);
    await execute(scene, 'UPDATE episodes SET reference_count = 1, last_referenced_at = $2 WHERE id = $1', [
      alfred[0]?.id,
      core.clock.now,
    ]);

    expect(await scene.sweepOnce(limited({ perButler: 2 }))).toEqual({ ...none, evicted: 2 });
    expect(await Promise.all(alfred.map(isThere))).toEqual([true, false, false, true]);
    expect(await Promise.all(jeeves.map(isThere))).toEqual([true, true]);
  });

  it('are counted for the tenant after those of the butlers and those past their time are gone', async () => {
    await storeMany('alfred', 4);
    await storeMany('jeeves', 3);
    const late = new Date(core.clock.now.getTime() - 60_000);
    await execute(
      scene,
      `UPDATE episodes SET expires_at = $1 WHERE tenant_id = $2 AND created_at = (SELECT min(created_at) FROM episodes WHERE tenant_id = $2)`,
      [late, scene.tenantId],
    );
    const sweep = limited({ perButler: 2, perTenant: 3 });
    const foreseen = await sweep(context(), { dryRun: true });

    // One is past its time; alfred is over by one, jeeves by one; then four are left for three places.
    expect(foreseen).toEqual({ ...none, expired: 1, evicted: 3 });
    expect(await sweep(context(), { dryRun: false })).toEqual(foreseen);
    expect(await scene.client.episode.count()).toBe(3);
    expect(await sweep(context(), { dryRun: false })).toEqual(none);
  });
});

it('tells how many it has dealt with, batch by batch', async () => {
  const episodes = Array.from({ length: 260 }, (_, place) => ({ content: `episode ${place}`, butler: 'alfred' }));
  await ingestEpisodes(context(), episodes);
  core.clock.now = core.day(400);
  const told: [number, number | null][] = [];
  const progress = (done: number, total: number | null): void => void told.push([done, total]);

  expect(await sweepEpisodes(context(), { dryRun: false, progress })).toMatchObject({ expired: 260 });
  // A first batch of 250, the rest, the page as a whole, and nothing more by the other stage.
  expect(told).toEqual([250, 260, 260, 260].map((done) => [done, null]));
});
