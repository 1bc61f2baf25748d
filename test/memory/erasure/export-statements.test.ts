import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exportSubject } from '../../../src/memory/erasure/export-subject.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { dropIdleDatabases } from '../../support/reused-database.ts';
import { storeEpisode, storeFact } from '../../support/writes.ts';

let core: TestCore;
// Before the first connection is made: the engines keep hold of the function that a connection came with.
const statements = vi.spyOn(Client.prototype, 'query');

beforeAll(async () => {
  await dropIdleDatabases();
  core = await createTestCore();
  for (let number = 0; number < 12; number++) {
    const { id } = await storeEpisode(core.context(), { butler: 'home', content: `Ada asked for number ${number}` });
    await storeFact(core.context(), { subject: 'Ada', predicate: `p ${number}`, content: 'c', sourceEpisodeId: id });
  }
});
afterAll(async () => {
  await core.close();
  statements.mockRestore();
});

describe('a page of the export of a subject', () => {
  it('takes as many statements for twenty memories as for two', async () => {
    const statementsOf = async (limit: number): Promise<number> => {
      statements.mockClear();
      const { memories } = await exportSubject(core.context(), { subject: 'ada', limit });
      expect(memories).toHaveLength(limit);
      expect(memories[0]).toMatchObject({ source: { butler: 'home' }, events: [{ eventType: 'fact.stored' }] });
      return statements.mock.calls.length;
    };

    // A page may open connections, each with a statement of its own: the least of several pages opens none.
    const least = async (limit: number): Promise<number> =>
      Math.min(await statementsOf(limit), await statementsOf(limit), await statementsOf(limit));
    expect(await least(20)).toBe(await least(2));
  });
});
