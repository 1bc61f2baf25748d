import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantDatabase } from '../../src/db/database.ts';
import type { Candidate } from '../../src/db/queries/candidate.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { notePredicate } from '../../src/memory/facts/note-key.ts';
import { asStored } from '../../src/redaction/redactor.ts';
import { findPreceding } from '../../src/retrieval/pipeline/lend.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { testConfig } from '../support/config.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

const said = [
  'Brunost leaves the stable at Nybø.',
  'New place from Saturday: Solvoll.',
  'Choir is on Tuesdays.',
] as const;
let core: TestCore;

// With the model: the hashing embedder knows no meaning.
beforeAll(async () => {
  core = await createTestCore(testConfig({ BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' }));
  await core.embedder.load();
});
afterAll(() => core.close());

/** Stores what one episode said, a note a sentence, and links each to its sentence. Returns the ids of the notes. */
async function learn(tenantId: string, isLinked: boolean): Promise<string[]> {
  const context = core.context({ tenantId });
  const episode = await storeEpisode(context, { butler: 'general', content: said.join(' ') });
  const ids: string[] = [];
  for (const content of said) {
    const fact = await storeFact(context, { subject: 'user', predicate: notePredicate(asStored(content)), content });
    ids.push(fact.id);
    const start = said.join(' ').indexOf(content);
    if (!isLinked) continue;
    await core.db.asOwner((client) =>
      client.query(
        `INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, spans, created_at)
        VALUES ('${tenantId}', 'fact', '${fact.id}', 'episode', '${episode.id}', 'derived_from',
          '[[${start}, ${start + content.length}]]', now())`,
      ),
    );
  }
  return ids;
}

describe('what stands before a memory in its episode', () => {
  function candidate(id: string, sources: Candidate['sources']): Candidate {
    return { id, sources } as Candidate;
  }

  it('is the nearest before it, in each of the episodes', () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const preceding = findPreceding([
      candidate('c', [
        [first, 90],
        [second, 10],
      ]),
      candidate('a', [[first, 0]]),
      candidate('b', [[first, 40]]),
      candidate('d', [[second, 0]]),
      candidate('same sentence', [[first, 40]]),
      candidate('stored by hand', null),
    ]);

    expect(preceding.get('c')?.map(({ id }) => id)).toEqual(['same sentence', 'd']);
    expect(preceding.get('b')?.map(({ id }) => id)).toEqual(['a']);
    expect([...preceding.keys()]).not.toContain('a');
  });

  it('lifts a note that does not say of what it speaks, and nothing else', async () => {
    const ask = async (tenantId: string, ids: readonly string[]): Promise<number[]> => {
      const { considered } = await recallMemories(core.context({ tenantId }), { topic: 'Where is Brunost now?' });
      const scores = new Map(considered.map(({ memory, parts }) => [memory.id, parts.match?.matchScore ?? Number.NaN]));
      return ids.map((id) => scores.get(id) ?? Number.NaN);
    };
    const [stable = 0, place = 0, choir = 0] = await ask('linked', await learn('linked', true));
    const [stableAlone = 0, placeAlone = 0, choirAlone = 0] = await ask('alone', await learn('alone', false));

    expect(place).toBeGreaterThan(placeAlone + 0.05);
    expect(stable).toBeCloseTo(stableAlone, 6);
    expect(choir - choirAlone).toBeLessThan(place - placeAlone);
  });

  it('is looked up by the memory, and not among all links of the tenant', async () => {
    await learn('looked up', true);
    const others = 300;
    // Links of memories that are not there: what counts is only how many there are.
    await core.db.asOwner(async (client) => {
      await client.query('ALTER TABLE memory_links DISABLE TRIGGER USER');
      await client.query(
        `INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, spans, created_at)
        SELECT 'looked up', 'fact', gen_random_uuid(), 'episode', gen_random_uuid(), 'derived_from', '[[0, 1]]', now()
        FROM generate_series(1, ${others})`,
      );
      await client.query('ALTER TABLE memory_links ENABLE TRIGGER USER');
      await client.query('ANALYZE memory_links');
    });
    const context = core.context({ tenantId: 'looked up' });
    const countRead = Prisma.sql`
      SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text
      FROM pg_stat_xact_user_tables WHERE relname = 'memory_links'`;
    let read = 0;
    const roundTrip: TenantDatabase['roundTrip'] = async (statements, settings) => {
      const answers = await context.db.roundTrip([countRead, ...statements, countRead], settings);
      read += Number(answers.at(-1)) - Number(answers.at(0));
      return answers.slice(1, -1);
    };
    await recallMemories({ ...context, db: { ...context.db, roundTrip } }, { topic: 'Where is Brunost now?' });

    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(others);
  });
});
