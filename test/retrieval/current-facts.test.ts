import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { forgetMemory } from '../../src/memory/forgetting/forget.ts';
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
  // A fact whose time has yet to come is in contexts only, and says so.
  const lines = text.split('\n').filter((line) => !/\bfrom \d+ \w+ \d{4}/.test(line));
  for (const content of ['Ada', 'Bo']) expect(lines.join('\n').includes(content)).toBe(found.includes(content));
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

it('says in contexts from when a fact will hold, and until when one holds', async () => {
  const contact = async (): Promise<string[]> => {
    const { text } = await buildContext(today, { triggerPrompt: 'user contact', butler: 'home' });
    return text
      .split('\n')
      .filter((line) => line.startsWith('- user, contact'))
      .toSorted();
  };
  await store('Ada');
  await store('Cy', { validFrom: new Date('2029-01-01T00:00:00Z') });
  expect(await contact()).toEqual([
    expect.stringMatching(/^- user, contact: Ada \[permanent, confirmed just now, \w+\]$/),
    expect.stringMatching(/^- user, contact: Cy \[permanent, from 2029, \w+\]$/),
  ]);
  await store('Bo', { validTo: new Date('2027-03-01T00:00:00Z') });
  expect(await contact()).toEqual([
    expect.stringMatching(/^- user, contact: Bo \[permanent, confirmed just now, until March 2027, \w+\]$/),
    expect.stringContaining('Cy [permanent, from 2029'),
  ]);
});

it('shows the facts that held, or will hold, at a date', async () => {
  const at = async (date: string, input: object = {}): Promise<string[]> => {
    const validAt = new Date(date);
    const { results } = await searchMemories(today, { query: 'contact', types: ['fact'], validAt, ...input });
    const found = results.map(({ memory }) => memory.row.content);
    if (Object.keys(input).length === 0) {
      const listed = await listMemories(today, { type: 'fact', filter: { validAt } }, { limit: 10, inverted: false });
      expect(listed.map(({ row }) => row.content)).toEqual(found);
      const recalled = await recallMemories(today, { topic: 'user contact', validAt });
      for (const { memory } of recalled.results) expect(found).toContain(memory.row.content);
    }
    return found;
  };
  await store('Ada', { observedAt: new Date('2024-01-01T00:00:00Z') });
  await store('Bo', { observedAt: new Date('2025-01-01T00:00:00Z') });
  await store('Cy', { validFrom: new Date('2029-01-01T00:00:00Z') });
  await store('Di', { validTo: new Date('2027-03-01T00:00:00Z') });

  expect(await at('2023-06-01T00:00:00Z')).toEqual([]);
  expect(await at('2024-06-01T00:00:00Z')).toEqual(['Ada']);
  expect(await at('2025-06-01T00:00:00Z')).toEqual(['Bo']);
  expect(await at('2026-12-01T00:00:00Z')).toEqual(['Di']);
  expect(await at('2027-06-01T00:00:00Z')).toEqual(['Bo']);
  expect(await at('2029-06-01T00:00:00Z')).toEqual(['Cy']);
  // What was known before any of these were stored.
  expect(await at('2029-06-01T00:00:00Z', { asOf: core.day(-1) })).toEqual([]);
});

it('does not show what was forgotten at any date', async () => {
  const { id } = await storeFact(today, { subject: 'user', predicate: 'contact', content: 'Ada' });
  await forgetMemory(today, { type: 'fact', id });
  const { results } = await searchMemories(today, { query: 'contact', types: ['fact'], validAt: core.day(1) });
  expect(results).toEqual([]);
});

it('does not show a value whose time has ended as current', async () => {
  await store('Bo', { validTo: core.day(20) });

  expect(await shown(later(21))).toEqual([]);
});
