import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemory } from '../../src/create-memory.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { getDataKey } from '../../src/encryption/data-keys.ts';
import { listChanges } from '../../src/memory/history/diff.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import { findMemoryAsOf } from '../../src/memory/history/history.ts';
import { getMemory } from '../../src/memory/memories.ts';
import { createVault, requireMasterKeys } from '../../src/encryption/vault.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { buildContext } from '../../src/retrieval/context/context.ts';
import { draftReceipt, keepReceipts } from '../../src/retrieval/receipts/receipts.ts';
import { replayReceipt } from '../../src/retrieval/receipts/replay.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { createTestCore, lastEventOf, type TestCore } from '../support/core.ts';
import { captureLog, encryptedConfig, masterKey } from '../support/encryption.ts';
import { confirmMemory, eraseMemory, storeFact, undoEvent } from '../support/writes.ts';

let core: TestCore;
let subjects = 0;

beforeAll(async () => {
  core = await createTestCore(encryptedConfig());
});
afterAll(() => core.close());

/** As another process, which has seen nothing yet, would have it. */
const another = (encryption: Parameters<typeof encryptedConfig>[0] = {}, tenantId = 'default'): MemoryContext => ({
  ...core.context({ tenantId }),
  vault: createVault(encryptedConfig(encryption), core.logger),
});
const ofTenant = (tenantId: string): MemoryContext => core.context({ tenantId });
const store = (content: string, context = core.context(), given: object = {}): Promise<Fact> =>
  storeFact(context, { subject: `patient ${++subjects}`, predicate: 'medical_condition', content, ...given });
const read = async (id: string, context = core.context()): Promise<string> =>
  (await getMemory(context, { type: 'fact', id })).row.content;
const execute = (statement: string, values: unknown[]): Promise<unknown> =>
  core.db.asOwner((client) => client.query(statement, values));

describe('an erased fact that was sealed', () => {
  it('takes the queries that repeat what it said with it, and is erased also when nobody can read it', async () => {
    const admin = core.context({ tenantId: 'erased', role: 'admin' });
    const [fact, lost] = [await store('beriberi', admin), await store('pellagra', admin)];
    const elsewhere = core.context({ tenantId: 'empty' });
    for (const query of ['who has Beriberi', 'beriberian songs', 'pellagra']) {
      const outcome = await searchMemories(elsewhere, { query });
      await keepReceipts(admin, [draftReceipt(admin, outcome, { kind: 'search' })]);
    }
    const { counts } = await eraseMemory(admin, { type: 'fact', id: fact.id, confirm: fact.id });
    expect(counts).toMatchObject({ memories: 1, receipts: 1 });
    await execute(`UPDATE facts SET sealed_content = '\\x00' WHERE id = $1`, [lost.id]);
    await eraseMemory(admin, { type: 'fact', id: lost.id, confirm: lost.id });

    const receipts = await core.db.forTenant('erased').client.contextReceipt.findMany({ orderBy: { id: 'asc' } });
    // What its events hold can be read still.
    expect(receipts.map(({ query }) => query)).toEqual(['[erased]', 'beriberian songs', '[erased]']);
  });
});

describe('the keys of a tenant', () => {
  it('are found by a process that did not make them', async () => {
    const fact = await store('scurvy');
    expect(await read(fact.id, another())).toBe('scurvy');
  });

  it('are one when several processes need the first at once', async () => {
    const processes = Array.from({ length: 4 }, () => another({}, 'many'));
    const facts = await Promise.all(processes.map((context, index) => store(`case ${index}`, context)));
    expect(await core.db.forTenant('many').client.dataKey.count()).toBe(1);
    for (const [index, { id }] of facts.entries()) expect(await read(id, ofTenant('many'))).toBe(`case ${index}`);
  });

  it('are made within the reach of a butler, too', async () => {
    const principal = { tenantId: 'confined', butler: 'nurse', role: 'butler' } as const;
    const context = { ...core.context(principal), db: core.db.forTenant('confined', { butler: 'nurse' }) };
    const fact = await store('vertigo', context, { scope: 'nurse' });
    expect(await read(fact.id, context)).toBe('vertigo');
  });

  it('open nothing of another tenant', async () => {
    const [mine, theirs] = [await store('mine', ofTenant('one')), await store('theirs', ofTenant('two'))];
    const { sealedContent, dataKeyId } = await core.db
      .forTenant('two')
      .client.fact.findFirstOrThrow({ where: { id: theirs.id } });
    await expect(getDataKey(ofTenant('one'), dataKeyId ?? '')).rejects.toMatchObject({ code: 'UNREADABLE' });
    // Even with all the rights of the owner: a row, and then the key with it, moved into another tenant.
    await execute(`UPDATE facts SET sealed_content = $1 WHERE id = $2`, [sealedContent, mine.id]);
    await expect(read(mine.id, ofTenant('one'))).rejects.toThrow(`fact ${mine.id} cannot be read`);
    await execute(
      `INSERT INTO data_keys SELECT 'one', id, wrapped_key, master_key_id, 'retired', created_at, now() FROM data_keys
       WHERE tenant_id = 'two'`,
      [],
    );
    await execute(`UPDATE facts SET data_key_id = $1 WHERE id = $2`, [dataKeyId, mine.id]);
    await expect(read(mine.id, another({}, 'one'))).rejects.toThrow(
      `fact ${mine.id} cannot be read: data key ${dataKeyId} is not what master key`,
    );
  });
});

describe('a fact that cannot be read', () => {
  it('is named by a clear error that tells nothing of it, and keeps no other from being found', async () => {
    const [bad, good] = [await store('pleurisy'), await store('asthma')];
    const flipBit = `
      UPDATE facts SET sealed_content = set_byte(sealed_content, 40, get_byte(sealed_content, 40) # 1) WHERE id = $1`;
    await execute(flipBit, [bad.id]);
    const log = captureLog();
    const context = { ...core.context(), logger: log.logger };
    await expect(read(bad.id)).rejects.toMatchObject({
      code: 'UNREADABLE',
      message: expect.stringMatching(`^fact ${bad.id} cannot be read: what is stored is not what was sealed for it`),
    });
    const { results } = await searchMemories(context, { query: 'patient medical condition', limit: 100 });
    const ids = results.map(({ memory }) => memory.row.id);
    expect(ids).toContain(good.id);
    expect(ids).not.toContain(bad.id);
    const { text } = await buildContext(context, { triggerPrompt: 'patient medical condition', butler: 'nurse' });
    expect(text).toContain('asthma');
    expect(log.text()).toContain(`fact ${bad.id} cannot be read`);
    expect(await findDifferences(core.context())).toEqual([{ type: 'fact', id: bad.id, columns: ['sealedContent'] }]);

    await execute(flipBit, [bad.id]);
    expect(await read(bad.id)).toBe('pleurisy');
    expect(await findDifferences(core.context())).toEqual([]);
  });

  it('is one whose ciphertext was moved to it from another', async () => {
    const [one, other] = [await store('one', ofTenant('mover')), await store('other', ofTenant('mover'))];
    await execute(`UPDATE facts SET sealed_content = (SELECT sealed_content FROM facts WHERE id = $1) WHERE id = $2`, [
      one.id,
      other.id,
    ]);
    await expect(read(other.id, ofTenant('mover'))).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  it('is one whose master key is not here, and no other key does', async () => {
    const fact = await store('gout');
    const without = another({ predicates: [], masterKey: undefined as never });
    await expect(read(fact.id, without)).rejects.toThrow(/is wrapped by master key [0-9a-f]{16}, which is not here/);
    await expect(read(fact.id, another({ masterKey: masterKey(2) }))).rejects.toMatchObject({ code: 'UNREADABLE' });
  });
});

describe('a start', () => {
  it('is refused with one line when the key is wrong or missing, and goes on with the key as the previous one', async () => {
    await store('rubella');
    const wrong = createVault(encryptedConfig({ masterKey: masterKey(2) }), core.logger);
    const right = createVault(encryptedConfig(), core.logger).masterKeys.current?.id;
    await expect(requireMasterKeys(core.db, wrong)).rejects.toThrow(
      new RegExp(
        `^butler.encryption.master_key must be the key of the facts .* of id ${right} \\(\\d+ data keys\\) \\(got a key`,
      ),
    );
    const none = createVault(encryptedConfig({ predicates: [], masterKey: undefined as never }), core.logger);
    await expect(requireMasterKeys(core.db, none)).rejects.toThrow(/\(got none\)$/);
    const both = encryptedConfig({ masterKey: masterKey(2), previousMasterKey: masterKey(1) });
    expect(await requireMasterKeys(core.db, createVault(both, core.logger))).toHaveLength(1);
  });

  it('is refused before the database is touched when facts are to be encrypted without a key', async () => {
    const config = encryptedConfig({ masterKey: undefined as never });
    const home = '/nowhere/that/could/be/made';
    await expect(
      createMemory({ config: { ...config, butler: { ...config.butler, home } }, logger: core.logger }),
    ).rejects.toMatchObject({ code: 'CONFIGURATION', message: expect.stringContaining('(got none)') });
  });
});

describe('a fact that was stored before its predicate was encrypted', () => {
  const plainly = (): MemoryContext => another({ predicates: [] });

  it('is sealed when it is written again, and undoing an earlier change still brings back what was', async () => {
    const given = { subject: 'old patient', predicate: 'medical_note' };
    const fact = await storeFact(plainly(), { ...given, content: 'rash', metadata: { b: 1, a: 2 } });
    await storeFact(plainly(), { ...given, content: 'rash', metadata: { b: 3 } });
    const change = await lastEventOf(core, fact.id, 'fact.confirmed');
    const again = await storeFact(core.context(), { ...given, content: 'rash', importance: 9 });
    expect(again).toMatchObject({ id: fact.id, content: 'rash', metadata: { b: 3 }, importance: 9 });
    expect(await core.db.forTenant('default').client.fact.findFirstOrThrow({ where: { id: fact.id } })).toMatchObject({
      content: '***',
      metadata: {},
    });

    await undoEvent(core.context(), { eventId: change });
    expect((await getMemory(core.context(), { type: 'fact', id: fact.id })).row.metadata).toEqual({ b: 1, a: 2 });
    expect(await findDifferences(core.context())).toEqual([]);
  });

  it('stays readable when its predicate is encrypted no more, and its successor is in plain', async () => {
    const given = { subject: 'new patient', predicate: 'medical_note' };
    const fact = await storeFact(core.context(), { ...given, content: 'cough' });
    expect(await storeFact(plainly(), { ...given, content: 'cough', tags: ['throat'] })).toMatchObject({
      id: fact.id,
      tags: ['throat'],
    });
    const next = await storeFact(plainly(), { ...given, content: 'well' });
    expect(next).toMatchObject({ content: 'well', supersedesId: fact.id, dataKeyId: null });
    expect(await read(fact.id, plainly())).toBe('cough');
  });
});

describe('the past', () => {
  it('is told in plain as of a moment, as a difference and as a receipt', async () => {
    const fact = await core.onDay(1, () => store('flu', core.context(), { metadata: { fever: 38 } }));
    const { subject, predicate } = fact;
    await core.onDay(3, () =>
      storeFact(core.context(), { subject, predicate, content: 'flu', metadata: { fever: 39 } }),
    );
    await core.onDay(4, () => confirmMemory(core.context(), { type: 'fact', id: fact.id }));
    expect(await findMemoryAsOf(core.context(), { type: 'fact', id: fact.id }, core.day(2))).toMatchObject({
      content: 'flu',
      metadata: { fever: 38 },
    });
    const { changes } = await listChanges(
      core.context(),
      { from: core.day(2), to: core.day(3.5), types: ['fact'] },
      { offset: 0, limit: 10 },
    );
    expect(changes).toMatchObject([{ id: fact.id, changes: ['metadata', 'lastConfirmedAt'] }]);

    await core.onDay(5, async () => {
      const asked = { triggerPrompt: `medical condition of ${subject}`, butler: 'nurse' };
      const { text, receiptId } = await buildContext(core.context(), asked);
      expect(text).toContain('flu');
      const replayed = await replayReceipt(core.context(), receiptId);
      expect(replayed).toMatchObject({ text, isExact: true });
      const sealed = replayed.receipt.chosen.find(({ id }) => id === fact.id);
      expect(sealed).toMatchObject({ lineDigest: null });
    });
  });
});
