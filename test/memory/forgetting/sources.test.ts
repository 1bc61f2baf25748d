import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetMemory, restoreMemory } from '../../../src/memory/forgetting/forget.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { linkMemories, storeEpisode, storeFact } from '../../support/writes.ts';

let core: TestCore;
let tenants = 0;
let tenantId: string;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant ${++tenants}`;
});

const asOperator = (): MemoryContext => core.context({ tenantId });
const asButler = (butler: string): MemoryContext => core.context({ tenantId, role: 'butler', butler });

/** A global fact of one butler that two butlers' episodes say. */
async function learn(): Promise<{ fact: { type: 'fact'; id: string }; own: string; others: string }> {
  const content = 'The spare key hangs in the boathouse. The lamp is broken.';
  const { id: own } = await storeEpisode(asButler('home'), { butler: 'home', content });
  const { id: others } = await storeEpisode(asButler('work'), { butler: 'work', content });
  const { id } = await storeFact(asButler('home'), {
    subject: 'spare key',
    predicate: 'place',
    content: 'boathouse',
    sourceEpisodeId: own,
  });
  const fact = { type: 'fact', id } as const;
  await linkMemories(asOperator(), { source: { type: 'episode', id: others }, target: fact, relation: 'supports' });
  return { fact, own, others };
}

async function read(id: string): Promise<{ isForgotten: boolean; isMasked: boolean }> {
  const where = { tenantId_id: { tenantId, id } };
  const row = await core.db.forTenant(tenantId).client.episode.findUniqueOrThrow({ where });
  return { isForgotten: row.forgottenAt !== null, isMasked: Object.keys(row.hiddenSpans as object).length > 0 };
}

const whole = { isForgotten: false, isMasked: false };
const taken = { isForgotten: true, isMasked: true };

describe('the sources of a forgotten fact', () => {
  it('are taken by a butler only as far as they are its own', async () => {
    const { fact, own, others } = await learn();
    await forgetMemory(asButler('home'), { ...fact, sources: true });
    expect(await read(own)).toEqual(taken);
    expect(await read(others)).toEqual(whole);
  });

  it('are taken by an operator, whoever observed them', async () => {
    const { fact, own, others } = await learn();
    await forgetMemory(asOperator(), { ...fact, sources: true });
    expect([await read(own), await read(others)]).toEqual([taken, taken]);
  });

  it('come back when the fact is restored, but for one that was forgotten by itself', async () => {
    const { fact, own, others } = await learn();
    await forgetMemory(asOperator(), { type: 'episode', id: others });
    core.clock.now = new Date(core.clock.now.getTime() + 60_000);
    await forgetMemory(asOperator(), { ...fact, sources: true });
    await restoreMemory(asOperator(), fact);
    expect(await read(own)).toEqual(whole);
    expect(await read(others)).toEqual({ ...whole, isForgotten: true });
    expect(await findDifferences(asOperator())).toEqual([]);
  });

  it('are left alone by a viewer, who may forget nothing', async () => {
    const { fact, own } = await learn();
    const viewer = core.context({ tenantId, role: 'viewer' });
    await expect(forgetMemory(viewer, { ...fact, sources: true })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await read(own)).toEqual(whole);
  });
});
