import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consolidateWith } from '../../../src/lifecycle/consolidation/consolidate.ts';
import { patternsEngine } from '../../../src/lifecycle/consolidation/engines/patterns.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { liveValidities } from '../../../src/memory/facts/fact-values.ts';
import { openRows } from '../../../src/encryption/sealing.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { encryptedConfig } from '../../support/encryption.ts';
import { expectNoDifference } from '../../support/verify.ts';
import { observe } from '../consolidation/setup.ts';

let core: TestCore;
beforeAll(async () => {
  core = await createTestCore(encryptedConfig({ predicates: ['works_*', '*likes_*'] }));
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();

async function consolidate(...texts: string[]): Promise<void> {
  await observe(core, 'home', ...texts);
  core.clock.now = new Date(core.clock.now.getTime() + 60_000);
  await consolidateWith(context(), patternsEngine, {});
}

async function liveFacts(): Promise<string[]> {
  const facts = await core.db
    .forTenant('default')
    .client.fact.findMany({ where: { validity: { in: liveValidities } } });
  expect(facts.every(({ dataKeyId }) => dataKeyId !== null)).toBe(true);
  const opened = await openRows(context(), facts);
  return opened.map(({ predicate, content }) => `${predicate}: ${content}`).toSorted();
}

describe('the engine of patterns, over facts that are sealed', () => {
  it('ends what has ended, and says what it was', async () => {
    await consolidate('User works at Nokia.', 'I like karaoke.');
    await consolidate('User no longer works at Nokia.', 'I hate karaoke.');

    expect(await liveFacts()).toEqual([
      'dislikes_karaoke: User hates karaoke',
      'likes_karaoke: User no longer likes karaoke',
      'works_at: User no longer works at Nokia',
    ]);
    await expectNoDifference(core);
  });
});
