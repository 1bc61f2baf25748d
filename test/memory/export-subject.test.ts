import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import { storeEpisode } from '../../src/memory/episodes.ts';
import { exportAll, exportSubject, type ExportedMemory } from '../../src/memory/export-subject.ts';
import { storeFact } from '../../src/memory/facts.ts';
import { storeRule } from '../../src/memory/rules.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { draftOf, keepReceipts } from '../../src/retrieval/receipts.ts';
import { createTestCore, type TestCore } from '../support/core.ts';

let core: TestCore;
beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (tenantId = 'default'): MemoryContext => core.context({ tenantId });

async function exported(subject: string, tenantId?: string): Promise<ExportedMemory[]> {
  const memories: ExportedMemory[] = [];
  for await (const memory of exportAll(context(tenantId), subject)) memories.push(memory);
  return memories;
}

describe('the export of a subject', () => {
  it('has the facts about it with all that hangs on them, and what mentions it', async () => {
    const episode = await storeEpisode(context(), { butler: 'home', content: 'Mary Somerville asked for tea' });
    const about = { subject: 'Mary Somerville', predicate: 'drink', sourceEpisodeId: episode.id };
    const first = await storeFact(context(), { ...about, content: 'tea' });
    const second = await core.onDay(1, () =>
      storeFact(context(), { ...about, subject: 'mary-somerville', content: 'coffee' }),
    );
    const rule = await storeRule(context(), { content: 'Greet Mary Somerville first' });
    await storeFact(context(), { subject: 'Ada', predicate: 'drink', content: 'water' });
    await storeFact(context('other'), { ...about, sourceEpisodeId: null, content: 'wine' });
    const outcome = await searchMemories(context(), { query: 'coffee' });
    const [receiptId] = await keepReceipts(context(), [draftOf(context(), outcome, { kind: 'search' })]);

    const memories = await exported('MARY somerville');
    expect(memories.map(({ relation, type, memory }) => [relation, type, (memory as { id: string }).id])).toEqual([
      ['about', 'fact', first.id],
      ['about', 'fact', second.id],
      ['mentions', 'episode', episode.id],
      ['mentions', 'rule', rule.id],
    ]);
    expect(memories[0]).toMatchObject({
      memory: { content: 'tea', validity: 'superseded' },
      source: { content: 'Mary Somerville asked for tea' },
      events: [{ eventType: 'fact.stored' }, { eventType: 'fact.superseded', payload: { after: { content: 'tea' } } }],
    });
    expect(memories[1]).toMatchObject({
      memory: { content: 'coffee' },
      links: expect.arrayContaining([
        expect.objectContaining({ relation: 'supersedes', targetId: first.id }),
      ]) as object,
      receipts: expect.arrayContaining([expect.objectContaining({ id: receiptId, query: 'coffee' })]) as object,
    });
    expect(JSON.stringify(memories)).not.toMatch(/wine|water|embedding"|searchVector/);
  });

  it('comes page by page, and says which page is not there', async () => {
    for (let number = 0; number < 5; number++) {
      await storeFact(context('pages'), { subject: 'Emmy', predicate: `trait ${number}`, content: 'kind' });
    }
    const ids: unknown[] = [];
    let after: string | null = null;
    do {
      const page = await exportSubject(context('pages'), { subject: 'emmy', limit: 2, after });
      ids.push(...page.memories.map(({ memory }) => (memory as { id: string }).id));
      after = page.next;
    } while (after !== null);
    expect(new Set(ids).size).toBe(5);
    expect(await exported('emmy', 'pages')).toHaveLength(5);
    expect(await exported('nobody', 'pages')).toEqual([]);
    await expect(exportSubject(context('pages'), { subject: 'emmy', after: 'fact:x' })).rejects.toThrow(/^after: /);
    await expect(exportSubject(context('pages'), { subject: 'emmy', limit: 51 })).rejects.toThrow(/^first: /);
  });
});
