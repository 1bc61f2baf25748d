import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimNext, observe } from './setup.ts';
import { applyOutput, undoEvent } from '../../support/writes.ts';

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

const context = (): MemoryContext => core.context({ tenantId });

async function apply(text: string, quote: string): Promise<unknown[]> {
  const [episode] = await observe({ ...core, context }, 'home', text);
  const claim = await claimNext(context());
  const evidence = [{ episode_id: episode?.id, quote }];
  const fact = { subject: 'user', predicate: 'drinks', content: 'tea', evidence };
  await applyOutput(context(), claim.runId, { new_facts: [fact] });
  const links = await core.db
    .forTenant(tenantId)
    .client.memoryLink.findMany({ where: { targetId: episode?.id ?? '' } });
  return links.map(({ relation, spans }) => [relation, spans]);
}

it('keeps where an episode says what was learned from it', async () => {
  expect(await apply('A fine day. I drink tea. Bye.', 'I drink tea.')).toEqual([['derived_from', [[12, 24]]]]);
});

it('counts characters, not halves of them', async () => {
  expect(await apply('🫖🫖 I drink tea.', 'I drink tea')).toEqual([['derived_from', [[3, 14]]]]);
});

it('finds a quote whose blanks and marks differ, and each place of it', async () => {
  expect(await apply('I’d drink tea. Yes, I’d drink tea.', "I'd  drink tea")).toEqual([
    [
      'derived_from',
      [
        [0, 13],
        [20, 33],
      ],
    ],
  ]);
});

it('keeps the evidence through undo and undo of that, and verifies', async () => {
  await apply('A fine day. I drink tea. Bye.', 'I drink tea.');
  const { client } = core.db.forTenant(tenantId);
  const stored = await client.memoryEvent.findFirstOrThrow({ where: { eventType: 'fact.stored' } });
  const undone = await undoEvent(context(), { eventId: stored.id });
  expect(await client.memoryLink.count()).toBe(0);
  await undoEvent(context(), { eventId: undone.id });
  expect((await client.memoryLink.findFirstOrThrow()).spans).toEqual([[12, 24]]);
  expect(await findDifferences(context())).toEqual([]);
});
