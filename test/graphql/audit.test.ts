import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChainHead } from '../../src/memory/history/audit-chain.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';
import { storeEpisode } from '../support/writes.ts';

let testApp: TestApp;
beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const ask = (): Promise<GraphQLAnswer> =>
  requestGraphQL(
    (request) => testApp.app.fetch(request),
    'http://localhost',
    '{ auditHead { head position hash eventId at } }',
  );

describe('auditHead', () => {
  it('is null before anything was done, and then the end of the chain', async () => {
    expect((await ask()).data).toEqual({ auditHead: null });
    const { memory } = testApp.app.createContext();
    await storeEpisode(memory, { content: 'tea', butler: 'home' });

    const head = await findChainHead(memory);
    expect(head).toMatchObject({ position: 2n, at: new Date('2026-03-01T12:00:00.000Z') });
    const { hash, eventId } = head as { hash: string; eventId: string };
    expect((await ask()).data).toEqual({
      auditHead: { head: `2:${hash}`, position: '2', hash, eventId, at: '2026-03-01T12:00:00.000Z' },
    });
  });
});
