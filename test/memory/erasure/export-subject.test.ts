import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepEpisodes } from '../../../src/lifecycle/cleanup.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { exportAll, exportSubject, type ExportedMemory } from '../../../src/memory/erasure/export-subject.ts';
import { searchMemories } from '../../../src/retrieval/search.ts';
import { draftReceipt, keepReceipts } from '../../../src/retrieval/receipts/receipts.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { encryptedConfig } from '../../support/encryption.ts';
import { forgetMemory, storeEpisode, storeFact, storeRule } from '../../support/writes.ts';

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
  it('has episodes that mention it in a segment only, also after they are gone', async () => {
    const episode = await storeEpisode(context('segments'), {
      butler: 'home',
      content: 'A mail was read.',
      segments: [{ speaker: 'document', text: 'Greetings from Caroline Herschel' }],
    });
    const mentions = async (): Promise<unknown[]> =>
      (await exported('Caroline Herschel', 'segments')).map(({ relation, id }) => [relation, id]);

    expect(await mentions()).toEqual([['mentions', episode.id]]);
    await core.onDay(30, () => sweepEpisodes(context('segments'), { dryRun: false }));
    expect(await mentions()).toEqual([['mentions', episode.id]]);
  });

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
    const [receiptId] = await keepReceipts(context(), [draftReceipt(context(), outcome, { kind: 'search' })]);

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
    await expect(exportSubject(context('pages'), { subject: 'emmy', after: 'fact:x' })).rejects.toThrow(
      /^after must be /,
    );
    await expect(exportSubject(context('pages'), { subject: 'emmy', limit: 51 })).rejects.toThrow(/^first must be /);
  });

  it('tells what is sealed in plain, and what was removed by its events', async () => {
    const sealing = await createTestCore(encryptedConfig());
    try {
      const [sealed, gone] = [sealing.context(), sealing.context()];
      const about = { subject: 'Mary', content: 'a broken wrist' };
      const fact = await storeFact(sealed, { ...about, predicate: 'medical_history' });
      const removed = await storeFact(gone, { ...about, predicate: 'accident' });
      await forgetMemory(gone, { type: 'fact', id: removed.id });
      sealing.clock.now = sealing.day(20);
      const config = { ...sealing.config, retention: { ...sealing.config.retention, facts: 10 } };
      await sweepEpisodes({ ...sealing.context(), config }, { dryRun: false });

      const { memories } = await exportSubject(sealing.context(), { subject: 'mary' });
      expect(memories).toMatchObject([
        {
          id: fact.id,
          memory: { content: about.content },
          events: [{ payload: { after: { content: about.content } } }],
        },
        { id: removed.id, memory: null },
      ]);
      expect(JSON.stringify(memories[1]?.['events'])).toContain(about.content);
      expect(JSON.stringify(memories)).not.toMatch(/seal|[kK]ey_?[iI]d/);
    } finally {
      await sealing.close();
    }
  });
});
