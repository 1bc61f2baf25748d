import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRows } from '../../../src/encryption/sealing.ts';
import { applyOutput } from '../../../src/lifecycle/consolidation/apply.ts';
import { patternsEngine } from '../../../src/lifecycle/consolidation/engines/patterns.ts';
import { requeueEpisodes } from '../../../src/lifecycle/consolidation/requeue.ts';
import { forgetMemory, restoreMemory } from '../../../src/memory/forgetting/forget.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimNext, observe, passSeconds } from './setup.ts';

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

const context = (): MemoryContext => core.context({ tenantId });

async function liveFacts(): Promise<{ id: string; content: string }[]> {
  const where = { tenantId, validity: { in: ['active', 'fading'] } };
  const facts = await core.db.forTenant(tenantId).client.fact.findMany({ where });
  return openRows(context(), facts);
}

async function consolidate(): Promise<void> {
  const claim = await claimNext(context());
  const { output } = await patternsEngine.extract(context(), claim, new AbortController().signal);
  await applyOutput(context(), claim.runId, output);
}

async function sayAndConsolidate(text: string): Promise<string> {
  const [episode] = await observe({ ...core, context }, 'home', text);
  await consolidate();
  return episode?.id ?? expect.unreachable('no episode');
}

describe('what was forgotten', () => {
  it.each([
    ['User: I live in Bergen.', 'Bergen'],
    ['User: I work at Norsk Hydro.', 'Hydro'],
    ['User: My dentist is called Ekholm.', 'Ekholm'],
    ['User: I am allergic to hazelnuts.', 'hazelnut'],
  ])('is not learned again by a requeue, and is when it is said anew: %s', async (text, word) => {
    const isSaid = async (): Promise<boolean> => (await liveFacts()).some(({ content }) => content.includes(word));
    const episodeId = await sayAndConsolidate(text);
    expect(await isSaid()).toBe(true);
    passSeconds(core, 60);
    for (const { id } of await liveFacts()) await forgetMemory(context(), { type: 'fact', id });

    passSeconds(core, 60);
    await requeueEpisodes(context(), { ids: [episodeId] });
    await consolidate();
    expect(await isSaid()).toBe(false);

    passSeconds(core, 60);
    await sayAndConsolidate(text);
    expect(await isSaid()).toBe(true);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('is not learned under another name or in other words, either', async () => {
    const episodeId = await sayAndConsolidate('User: I live in Bergen. The weather is cheerful here.');
    const fact = (await liveFacts()).find(({ content }) => content.includes('Bergen'));
    passSeconds(core, 60);
    await forgetMemory(context(), { type: 'fact', id: fact?.id ?? '' });
    await requeueEpisodes(context(), { ids: [episodeId] });
    const claim = await claimNext(context());
    const evidence = [{ episode_id: episodeId, quote: 'I live in Bergen' }];
    // What was forgotten cannot be quoted any more: it is hidden.
    const weather = [{ episode_id: episodeId, quote: 'The weather is cheerful here' }];
    const facts = [
      { subject: 'user', predicate: 'home_city', content: 'The user lives in the city of Bergen', evidence },
      { subject: 'user', predicate: 'mood', content: 'cheerful', evidence: weather },
    ];
    await applyOutput(context(), claim.runId, { new_facts: facts });

    const contents = (await liveFacts()).map(({ content }) => content);
    expect(contents).toContain('cheerful');
    expect(contents.filter((content) => content.includes('Bergen'))).toEqual([]);
  });

  it('is confirmed again once it is restored', async () => {
    const episodeId = await sayAndConsolidate('User: I live in Bergen.');
    const [fact] = await liveFacts();
    const reference = { type: 'fact', id: fact?.id ?? '' } as const;
    passSeconds(core, 60);
    await forgetMemory(context(), reference);
    await restoreMemory(context(), reference);
    await requeueEpisodes(context(), { ids: [episodeId] });
    await consolidate();
    expect(await liveFacts()).toHaveLength(1);
  });
});
