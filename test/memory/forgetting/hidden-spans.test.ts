import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepEpisodes } from '../../../src/lifecycle/cleanup.ts';
import { sweepEmbeddings } from '../../../src/lifecycle/reembed.ts';
import { applyOutput } from '../../../src/lifecycle/consolidation/apply.ts';
import { forgetMemory, restoreMemory } from '../../../src/memory/forgetting/forget.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { listMentions } from '../../../src/db/queries/erasure.ts';
import { listChanges } from '../../../src/memory/history/diff.ts';
import { findMemoryAsOf } from '../../../src/memory/history/history.ts';
import { undoEvent } from '../../../src/memory/history/undo.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { getMemory } from '../../../src/memory/memories.ts';
import { buildContext } from '../../../src/retrieval/context/context.ts';
import { replayReceipt } from '../../../src/retrieval/receipts/replay.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimNext, observe, passSeconds } from '../../lifecycle/consolidation/setup.ts';

let core: TestCore;
let tenants = 0;
let tenantId: string;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant ${++tenants}`;
  core.clock.now = core.start;
});

const asOperator = (): MemoryContext => core.context({ tenantId });
const asButler = (): MemoryContext => core.context({ tenantId, role: 'butler', butler: 'home' });

const text = 'User: I live in Bergen. My dentist is Ekholm. The lamp is broken. 🙂 Ekholm is strict.';

/** Two facts, each with the sentence that it was learned from. */
async function learn(): Promise<{ episodeId: string; city: string; dentist: string }> {
  const [episode] = await observe({ ...core, context: asOperator }, 'home', text);
  const episodeId = episode?.id ?? '';
  const claim = await claimNext(asOperator());
  const quote = (said: string): object[] => [{ episode_id: episodeId, quote: said }];
  await applyOutput(asOperator(), claim.runId, {
    new_facts: [
      { subject: 'user', predicate: 'lives_in', content: 'Bergen', evidence: quote('I live in Bergen') },
      { subject: 'user', predicate: 'dentist', content: 'Ekholm', evidence: quote('My dentist is Ekholm') },
    ],
  });
  const facts = await core.db.forTenant(tenantId).client.fact.findMany({ where: { tenantId } });
  const idOf = (predicate: string): string => facts.find((fact) => fact.predicate === predicate)?.id ?? '';
  passSeconds(core, 60);
  return { episodeId, city: idOf('lives_in'), dentist: idOf('dentist') };
}

async function read(context: MemoryContext, id: string): Promise<string> {
  return (await getMemory(context, { type: 'episode', id })).row.content;
}

describe('the hidden spans of an episode', () => {
  it('are those of every forgotten memory, and one undo shows its own again', async () => {
    const { episodeId, city, dentist } = await learn();
    const first = await forgetMemory(asButler(), { type: 'fact', id: city });
    await forgetMemory(asButler(), { type: 'fact', id: dentist });
    expect(await read(asButler(), episodeId)).toBe(
      'User: [forgotten]. [forgotten]. The lamp is broken. 🙂 Ekholm is strict.',
    );

    await undoEvent(asButler(), { eventId: first.eventId ?? '' });
    expect(await read(asButler(), episodeId)).toBe(
      'User: I live in Bergen. [forgotten]. The lamp is broken. 🙂 Ekholm is strict.',
    );
    expect(await read(asOperator(), episodeId)).toBe(text);
    await restoreMemory(asButler(), { type: 'fact', id: dentist });
    expect(await read(asButler(), episodeId)).toBe(text);
    expect(await findDifferences(asOperator())).toEqual([]);
  });

  it('have no part in its vector, nor after the vectors are made again', async () => {
    const { episodeId, city } = await learn();
    const readVector = async (): Promise<string> => {
      const [row] = await core.db.forTenant(tenantId).client.$queryRaw<{ vector: string }[]>`
        SELECT embedding::text AS vector FROM episodes WHERE tenant_id = ${tenantId} AND id = ${episodeId}::uuid`;
      return row?.vector ?? '';
    };
    const before = await readVector();
    await forgetMemory(asButler(), { type: 'fact', id: city });
    const hidden = await readVector();
    const [expected] = await core.embedder.embed([text.replace('I live in Bergen', '')]);
    expect(hidden).not.toBe(before);
    for (const [place, value] of (JSON.parse(hidden) as number[]).entries()) {
      expect(value).toBeCloseTo(expected?.vector[place] ?? Number.NaN, 5);
    }

    await core.db.forTenant(tenantId).transaction(async (transaction) => {
      await transaction.$executeRaw`UPDATE episodes SET embedding = NULL, embedding_version_id = NULL WHERE tenant_id = ${tenantId}`;
    });
    await sweepEmbeddings(asOperator(), { dryRun: false });
    expect(await readVector()).toBe(hidden);
  });

  it('are masked for a butler in states of the past, in differences and in receipts', async () => {
    const { episodeId, city } = await learn();
    const then = core.clock.now;
    const { receiptId, text: shown } = await buildContext(asButler(), { butler: 'home', triggerPrompt: 'zzz' });
    expect(shown).toContain('Bergen');
    passSeconds(core, 60);
    await forgetMemory(asButler(), { type: 'fact', id: city });

    const past = await findMemoryAsOf(asButler(), { type: 'episode', id: episodeId }, then);
    expect(past?.content).toContain('[forgotten]');
    expect((await findMemoryAsOf(asOperator(), { type: 'episode', id: episodeId }, then))?.content).toBe(text);
    const span = { from: then, to: core.clock.now, types: ['episode'] as const };
    const { changes } = await listChanges(asButler(), span, { offset: 0, limit: 10 });
    expect(JSON.stringify(changes)).not.toContain('Bergen');
    const replayed = await replayReceipt(asButler(), receiptId);
    const episodes = replayed.memories.filter(({ type }) => type === 'episode');
    expect(JSON.stringify(episodes)).not.toContain('Bergen');
    const lines = (replayed.text ?? '').split('\n').filter((line) => line.includes('lamp'));
    expect(lines.join('\n')).not.toContain('Bergen');
  });

  it('are found by an erasure all the same', async () => {
    const { episodeId, dentist } = await learn();
    await forgetMemory(asButler(), { type: 'fact', id: dentist });
    const mentions = await listMentions(core.db.forTenant(tenantId).client, 'My dentist');
    expect(mentions).toContainEqual({ type: 'episode', id: episodeId });
  });

  it('keep no undo from being done once the episode is gone', async () => {
    const { city } = await learn();
    const { eventId } = await forgetMemory(asOperator(), { type: 'fact', id: city });
    core.clock.now = core.day(400);
    expect(await sweepEpisodes(asOperator(), { dryRun: false })).toMatchObject({ expired: 1 });
    await undoEvent(asOperator(), { eventId: eventId ?? '' });
    expect((await getMemory(asOperator(), { type: 'fact', id: city })).row).toMatchObject({ validity: 'active' });
    expect(await findDifferences(asOperator())).toEqual([]);
  });

  it('are not given to an engine that reads the episode again', async () => {
    const { episodeId, city } = await learn();
    await forgetMemory(asButler(), { type: 'fact', id: city });
    await core.db.forTenant(tenantId).client.episode.update({
      where: { tenantId_id: { tenantId, id: episodeId } },
      data: { consolidationStatus: 'pending', consolidationRunId: null },
    });
    const claim = await claimNext(asOperator());
    expect(JSON.stringify(claim.episodes)).not.toContain('Bergen');
  });
});
