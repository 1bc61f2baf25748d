import { afterAll, beforeAll, expect, it } from 'vitest';
import { listErrorCodes } from '../../src/db/database-errors.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import { buildContext } from '../../src/retrieval/context/context.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

/** What the database lets a viewer do, whatever the code above it forgets. */

let testApp: TestApp;
const viewer: Principal = { tenantId: 'house', butler: null, role: 'viewer' };
const contextOf = (principal: Principal): MemoryContext => testApp.app.createContext({}, principal).memory;

beforeAll(async () => {
  testApp = await createTestApp();
  for (const tenantId of ['house', 'neighbour']) {
    for (const butler of ['home', 'work']) {
      const context = contextOf({ tenantId, butler, role: 'butler' });
      await storeEpisode(context, { content: `Tea of ${butler} of ${tenantId}` });
      await storeFact(context, { subject: 'user', predicate: 'drinks', content: `tea of ${tenantId}`, scope: butler });
    }
  }
});
afterAll(() => testApp.close());

it('lets a viewer read all of its tenant, and nothing of another', async () => {
  const client = contextOf(viewer).db.client;
  expect((await client.episode.findMany()).map(({ content }) => content).toSorted()).toEqual([
    'Tea of home of house',
    'Tea of work of house',
  ]);
  expect((await client.fact.findMany()).map(({ scope }) => scope).toSorted()).toEqual(['home', 'work']);
});

it('refuses every write of a viewer', async () => {
  const { db } = contextOf(viewer);
  const data = { version: { increment: 1 } };
  const key = { tenantId: 'house', key: 'k', operation: 'x', inputDigest: 'x', response: {}, createdAt: new Date(0) };
  const writes: (() => Promise<unknown>)[] = [
    async () => db.client.fact.updateMany({ data }),
    async () => db.client.$executeRaw`DELETE FROM episodes`,
    () => db.transaction((transaction) => transaction.rule.updateMany({ data })),
    () => db.transaction((transaction) => transaction.idempotencyKey.create({ data: key })),
  ];
  for (const write of writes) expect(await write().then(() => 'written', listErrorCodes)).toContain('25006');
});

it('counts no reference for what a viewer reads, and keeps the receipt of its context', async () => {
  const { memory, references } = testApp.app.createContext({}, viewer);
  const { receiptId } = await buildContext(memory, { triggerPrompt: 'tea', butler: 'home' });
  const [fact] = await memory.db.client.fact.findMany();
  references.enqueue(memory, [{ type: 'fact', id: fact?.id ?? '' }], null);
  await references.flush();

  expect(await memory.db.client.contextReceipt.count({ where: { id: receiptId } })).toBe(1);
  expect(await memory.db.client.fact.count({ where: { referenceCount: { gt: 0 } } })).toBe(0);
});
