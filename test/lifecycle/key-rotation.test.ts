import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TenantDatabase } from '../../src/db/database.ts';
import { sweepKeys } from '../../src/lifecycle/key-rotation.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import { findMemoryAsOf, readHistory } from '../../src/memory/history/history.ts';
import { getMemory, loadMemories } from '../../src/memory/memories.ts';
import { openRows } from '../../src/encryption/sealing.ts';
import { createVault, requireMasterKeys } from '../../src/encryption/vault.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { dumpDatabase, encryptedConfig, masterKey } from '../support/encryption.ts';
import { storeFact, undoEvent } from '../support/writes.ts';

let core: TestCore;
let tenantId = '';
let tenants = 0;

beforeAll(async () => {
  core = await createTestCore(encryptedConfig());
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant ${++tenants}`;
});

/** As a process that was just started with this configuration has it. */
const started = (encryption: Parameters<typeof encryptedConfig>[0] = {}): MemoryContext => ({
  ...core.context({ tenantId }),
  vault: createVault(encryptedConfig(encryption), core.logger),
});
const store = (number: number, context = core.context({ tenantId }), given: object = {}): Promise<Fact> =>
  storeFact(context, {
    subject: `patient ${number}`,
    predicate: 'medical_value',
    content: `value ${number}`,
    ...given,
  });
const storeAll = async (count: number, context = core.context({ tenantId })): Promise<Fact[]> => {
  const facts: Fact[] = [];
  for (let number = 0; number < count; number++) facts.push(await store(number, context));
  return facts;
};
const readAll = async (facts: readonly Fact[], context = started()): Promise<string[]> => {
  const rows = await loadMemories(
    context,
    facts.map(({ id }) => ({ type: 'fact', id })),
  );
  const opened = await openRows(context, [...rows.values()]);
  return facts.map(({ id }) => opened.find((row) => row.id === id)?.content ?? 'gone');
};
const keys = (): Promise<{ id: string; status: string; masterKeyId: string }[]> =>
  core.db.forTenant(tenantId).client.dataKey.findMany({
    orderBy: { createdAt: 'asc' },
    select: { id: true, status: true, masterKeyId: true },
  });
const keyIdsOfFacts = async (): Promise<(string | null)[]> => {
  const rows = await core.db
    .forTenant(tenantId)
    .client.fact.findMany({ distinct: ['dataKeyId'], select: { dataKeyId: true } });
  return rows.map(({ dataKeyId }) => dataKeyId);
};
const nothing = { rewrapped: 0, created: 0, resealed: 0, sealed: 0, remaining: 0, failed: 0 };

describe('a rotation of data keys', () => {
  it('seals every fact under a new key, and tells nobody of it', async () => {
    const facts = await storeAll(3);
    const events = await core.db.forTenant(tenantId).client.memoryEvent.count();

    expect(await sweepKeys(core.context({ tenantId }), { dryRun: true })).toEqual({
      ...nothing,
      created: 1,
      resealed: 3,
    });
    expect(await keys()).toHaveLength(1);
    const progress: (number | null)[][] = [];
    const options = { dryRun: false, progress: (...told: [number, number | null]) => void progress.push(told) };
    expect(await sweepKeys(core.context({ tenantId }), options)).toEqual({ ...nothing, created: 1, resealed: 3 });

    expect(new Set((await keys()).map(({ status }) => status))).toEqual(new Set(['active', 'retired']));
    expect(await keyIdsOfFacts()).toEqual([(await keys()).find(({ status }) => status === 'active')?.id]);
    expect(progress).toEqual([[3, 3]]);
    expect(await readAll(facts)).toEqual(['value 0', 'value 1', 'value 2']);
    expect(await core.db.forTenant(tenantId).client.memoryEvent.count()).toBe(events);
    expect(await findDifferences(started())).toEqual([]);
  });

  it('passes over a fact that cannot be written, and seals the others', async () => {
    const facts = await storeAll(5);
    await core.db.asOwner((client) =>
      client.query(`
        CREATE FUNCTION refuse_fact() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN IF new.id = '${facts[2]?.id}' THEN RAISE 'refused'; END IF; RETURN new; END $$;
        CREATE TRIGGER refuse_fact BEFORE UPDATE ON facts FOR EACH ROW EXECUTE FUNCTION refuse_fact()`),
    );
    try {
      const report = await sweepKeys(core.context({ tenantId }), { dryRun: false });
      expect(report).toEqual({ ...nothing, created: 1, resealed: 4, remaining: 1, failed: 1 });
    } finally {
      await core.db.asOwner((client) => client.query('DROP FUNCTION refuse_fact CASCADE'));
    }
    expect(await sweepKeys(core.context({ tenantId }), { dryRun: false })).toEqual({ ...nothing, resealed: 1 });
    expect(await readAll(facts)).toEqual(['value 0', 'value 1', 'value 2', 'value 3', 'value 4']);
  });

  it('leaves history, the past, undo and confirmation as they were', async () => {
    const fact = await core.onDay(1, () => store(1, core.context({ tenantId }), { metadata: { dose: 1 } }));
    await core.onDay(2, () => store(1, core.context({ tenantId }), { metadata: { dose: 2 } }));
    await sweepKeys(core.context({ tenantId }), { dryRun: false });
    await core.onDay(3, () => store(1));
    await sweepKeys(core.context({ tenantId }), { dryRun: false });

    const versions = await readHistory(started(), { type: 'fact', id: fact.id });
    expect(versions.map(({ memory }) => memory?.metadata)).toEqual([{ dose: 1 }, { dose: 2 }, { dose: 2 }]);
    expect(versions.at(-1)?.changes).toEqual(['lastConfirmedAt']);
    const then = await findMemoryAsOf(started(), { type: 'fact', id: fact.id }, core.day(1.5));
    expect(then).toMatchObject({ content: 'value 1', metadata: { dose: 1 } });
    const change = await core.db.forTenant(tenantId).client.memoryEvent.findFirstOrThrow({
      where: { entityId: fact.id, eventType: 'fact.confirmed' },
      orderBy: { sequence: 'asc' },
    });
    await undoEvent(started(), { eventId: change.id });
    expect((await getMemory(started(), { type: 'fact', id: fact.id })).row.metadata).toEqual({ dose: 1 });
    expect(await findDifferences(started())).toEqual([]);
    expect(await findDifferences(started(), core.day(1.5))).toEqual([]);
  });

  it('seals what was stored in plain before, and search finds it by subject and predicate only', async () => {
    const plainly = started({ predicates: [] });
    const facts = [await store(1, plainly, { content: 'sinusitis', tags: ['nose'] }), await store(2, plainly)];
    await storeFact(plainly, { subject: 'user', predicate: 'likes', content: 'tea' });
    expect(await sweepKeys(core.context({ tenantId }), { dryRun: true })).toEqual({
      ...nothing,
      created: 1,
      sealed: 2,
    });
    expect(await sweepKeys(core.context({ tenantId }), { dryRun: false })).toEqual({
      ...nothing,
      created: 1,
      sealed: 2,
    });

    expect(await readAll(facts)).toEqual(['sinusitis', 'value 2']);
    const [row] = await core.db.asOwner(
      async (client) =>
        (await client.query<{ row: string }>('SELECT f::text AS row FROM facts f WHERE id = $1', [facts[0]?.id])).rows,
    );
    expect(row?.row).not.toMatch(/sinusit|nose/);
    const search = async (query: string, mode: 'keyword' | 'semantic'): Promise<string[]> => {
      const { results } = await searchMemories(started(), { query, mode, limit: 1 });
      return results.map(({ memory }) => memory.row.content);
    };
    expect(await search('sinusitis', 'keyword')).toEqual([]);
    expect(await search('patient 1 medical value', 'semantic')).toEqual(['sinusitis']);
    expect(await search('patient 1 medical value', 'keyword')).toEqual(['sinusitis']);
    expect(await findDifferences(started())).toEqual([]);
    // What events held in plain they hold: nothing alters an event.
    expect(await dumpDatabase(core.db)).toContain('sinusitis');
  });

  it('has nothing to do without a key, and makes none where nothing is to be sealed', async () => {
    const off = started({ predicates: [], masterKey: undefined as never });
    await storeFact(off, { subject: 'user', predicate: 'likes', content: 'tea' });
    expect(await sweepKeys(off, { dryRun: false })).toEqual(nothing);
    expect(await sweepKeys(started(), { dryRun: false })).toEqual(nothing);
    expect(await keys()).toEqual([]);
  });

  it('goes on where it was when it is killed at any statement, and every fact can be read meanwhile', async () => {
    const facts = await storeAll(5);
    const plain = await storeFact(started({ predicates: [] }), {
      subject: 'old',
      predicate: 'medical_value',
      content: 'in plain',
    });
    const expected = [...facts.map(({ content }) => content), 'in plain'];
    let kills = 0;
    for (let statements = 1; ; statements++) {
      const context = { ...started(), db: dyingAfter(started().db, statements) };
      const isDone = await sweepKeys(context, { dryRun: false, rowsPerBatch: 2 }).then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe('killed');
          return false;
        },
      );
      expect(await readAll([...facts, plain])).toEqual(expected);
      if (isDone) break;
      kills++;
    }
    expect(kills).toBeGreaterThan(8);
    const all = await keys();
    expect(all.filter(({ status }) => status === 'active')).toHaveLength(1);
    expect(await keyIdsOfFacts()).toEqual([all.find(({ status }) => status === 'active')?.id]);
    expect(await findDifferences(started())).toEqual([]);
  });

  it('ends when it is told to, and says what is left', async () => {
    await storeAll(2);
    await sweepKeys(core.context({ tenantId }), { dryRun: false });
    const stopping = new AbortController();
    stopping.abort();
    const report = await sweepKeys(core.context({ tenantId }), { dryRun: false, signal: stopping.signal });
    expect(report).toEqual({ ...nothing, created: 1, remaining: 2 });
    expect(await sweepKeys(core.context({ tenantId }), { dryRun: false })).toEqual({ ...nothing, resealed: 2 });
  });

  it('loses no write that comes meanwhile, and two at once end with one active key', async () => {
    const facts = await storeAll(6);
    const writes = Array.from({ length: 6 }, (_, number) => store(100 + number, started()));
    await Promise.all([sweepKeys(started(), { dryRun: false }), sweepKeys(started(), { dryRun: false }), ...writes]);
    const written = await Promise.all(writes);
    expect(await readAll([...facts, ...written])).toEqual([...facts, ...written].map(({ content }) => content));
    expect((await keys()).filter(({ status }) => status === 'active')).toHaveLength(1);
    await sweepKeys(started(), { dryRun: false });
    await sweepKeys(started(), { dryRun: false });
    expect(await keyIdsOfFacts()).toEqual([(await keys()).find(({ status }) => status === 'active')?.id]);
  });
});

describe('a rotation of the master key', () => {
  const next = { masterKey: masterKey(2), previousMasterKey: masterKey(1) };

  it('wraps the data keys anew, retired ones too, and then the old key is not needed any more', async () => {
    const fact = await store(1);
    await sweepKeys(core.context({ tenantId }), { dryRun: false });
    const both = started(next);
    expect(await readAll([fact], both)).toEqual(['value 1']);
    expect(await sweepKeys(both, { dryRun: true })).toMatchObject({ rewrapped: 2 });
    expect(await sweepKeys(both, { dryRun: false })).toMatchObject({ rewrapped: 2, created: 1, resealed: 1 });

    const alone = started({ masterKey: masterKey(2) });
    expect(new Set((await keys()).map(({ masterKeyId }) => masterKeyId))).toEqual(
      new Set([alone.vault.masterKeys.current?.id]),
    );
    expect(await readAll([fact], alone)).toEqual(['value 1']);
    const versions = await readHistory(alone, { type: 'fact', id: fact.id });
    expect(versions.map(({ memory }) => memory?.content)).toEqual(['value 1']);
    await undoEvent(alone, { eventId: versions[0]?.event.id ?? '' });
    await expect(readAll([fact], started())).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  it('is finished by the next run when it was killed in between', async () => {
    const facts = await storeAll(3);
    for (let rounds = 0; rounds < 3; rounds++) await sweepKeys(core.context({ tenantId }), { dryRun: false });
    for (let statements = 1; statements < 6; statements++) {
      const context = { ...started(next), db: dyingAfter(started().db, statements) };
      await expect(sweepKeys(context, { dryRun: false })).rejects.toThrow('killed');
      expect(await readAll(facts, started(next))).toEqual(facts.map(({ content }) => content));
    }
    await sweepKeys(started(next), { dryRun: false });
    expect(await readAll(facts, started({ masterKey: masterKey(2) }))).toEqual(facts.map(({ content }) => content));
  });
});

describe('a key that is lost', () => {
  it('lets the server start, leaves its facts unread, and is replaced for what comes', async () => {
    const lost = await store(1);
    const fresh = started({ masterKey: masterKey(3) });
    await expect(requireMasterKeys(core.db, fresh.vault)).rejects.toMatchObject({ code: 'CONFIGURATION' });
    // As docs/operations.md tells people to.
    await core.db.asOwner((client) =>
      client.query(
        `UPDATE data_keys SET status = 'lost', retired_at = coalesce(retired_at, now()) WHERE master_key_id = $1`,
        [started().vault.masterKeys.current?.id],
      ),
    );
    const needed = (await core.db.listMasterKeys()).map(({ masterKeyId }) => masterKeyId);
    expect(needed).not.toContain(started().vault.masterKeys.current?.id);
    const fact = await store(2, fresh);
    expect(await readAll([fact], fresh)).toEqual(['value 2']);
    await expect(readAll([lost], fresh)).rejects.toThrow(`fact ${lost.id} cannot be read: data key`);
    const { results } = await searchMemories(fresh, { query: 'patient medical value' });
    expect(results.map(({ memory }) => memory.row.id)).toEqual([fact.id]);
    expect(await sweepKeys(fresh, { dryRun: false })).toMatchObject({ remaining: 1 });
  });
});

/** A database whose client dies before that statement: what was not committed has not happened. */
function dyingAfter(db: TenantDatabase, statements: number): TenantDatabase {
  let left = statements;
  const counted = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name);
        if (typeof value === 'object' && value !== null) return counted(value);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (--left < 0) throw new Error('killed');
          return Reflect.apply(value, object, args);
        };
      },
    });
  return {
    ...db,
    transaction: (work) => db.transaction((transaction) => work(counted(transaction))),
    client: counted(db.client),
  };
}
