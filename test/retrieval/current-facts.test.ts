import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { listMemories } from '../../src/memory/lists.ts';
import { buildContext } from '../../src/retrieval/context/context.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeFact } from '../support/writes.ts';

let core: TestCore;
let today: MemoryContext;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  today = core.context({ tenantId: randomUUID() });
});

const later = (days: number): MemoryContext => ({ ...today, now: () => core.day(days) });
const store = (content: string, times: Partial<StoreFactInput> = {}): Promise<unknown> =>
  storeFact(today, { subject: 'user', predicate: 'contact', content, permanence: 'permanent', ...times });

/** The contents that search, the list and the context show; all must agree. */
async function shown(context: MemoryContext): Promise<string[]> {
  const { results } = await searchMemories(context, { query: 'contact', types: ['fact'] });
  const found = results.map(({ memory }) => memory.row.content).toSorted();
  const listed = await listMemories(context, { type: 'fact' }, { limit: 10, inverted: false });
  const contents = listed.map(({ row }) => row.content as unknown as string);
  expect(contents.toSorted()).toEqual(found);
  const { text } = await buildContext(context, { triggerPrompt: 'user contact', butler: 'home' });
  for (const content of ['Ada', 'Bo']) expect(text.includes(content)).toBe(found.includes(content));
  const recalled = await recallMemories(context, { topic: 'user contact' });
  for (const { memory } of recalled.results) expect(found).toContain(memory.row.content);
  return found;
}

it('shows a fact of the future from its day on, before any sweep', async () => {
  await store('Ada');
  await store('Bo', { validFrom: core.day(20) });

  expect(await shown(today)).toEqual(['Ada']);
  expect(await shown(later(21))).toEqual(['Bo']);
});

it('shows a temporary replacement while it holds, and then the earlier value again', async () => {
  await store('Ada');
  await store('Bo', { validTo: core.day(20) });

  expect(await shown(today)).toEqual(['Bo']);
  expect(await shown(later(21))).toEqual(['Ada']);
});

it('does not show a value whose time has ended as current', async () => {
  await store('Bo', { validTo: core.day(20) });

  expect(await shown(later(21))).toEqual([]);
});
