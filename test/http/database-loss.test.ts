import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp, type App } from '../../src/http/app.ts';
import type { Database } from '../../src/db/database.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../support/database.ts';
import { expectNoInternals } from '../support/internals.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

describe.runIf(testEngine === 'postgres')('PostgreSQL that is lost', () => {
  let testApp: TestApp;
  let scratch: TestDatabase;
  let proxy: TcpProxy;

  beforeAll(async () => {
    testApp = await createTestApp();
    scratch = await createTestDatabase();
    proxy = await startTcpProxy(scratch.options.url ?? '');
    await scratch.reopen({ url: proxy.url, connectTimeoutMs: 1000, statementTimeoutMs: 500, poolSize: 4 });
  });
  afterAll(async () => {
    await scratch.drop();
    await proxy.close();
    await testApp.close();
  });
  beforeEach(() => proxy.restore());

  const appOn = (db: Database, mode: 'none' | 'required' = 'none'): App => {
    const { config } = testApp.core;
    return createApp({ ...testApp.core, db, config: { ...config, auth: { ...config.auth, mode } } });
  };
  const post = (app: App, path: string, body: object): Promise<Response> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer bmt_any',
    };
    return app.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
  };
  const fact = { subject: 'user', predicate: 'drinks', content: 'tea' };
  const query = 'mutation ($input: StoreFactInput!) { storeFact(input: $input) { __typename } }';
  const bodies = {
    '/graphql': { query, variables: { input: fact } },
    '/mcp': { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_store_fact', arguments: fact } },
  };
  const losses: [string, () => unknown][] = [
    ['is cut off', () => proxy.cut()],
    ['falls silent', () => proxy.stall()],
  ];

  describe.each(losses)('and %s', (_, lose) => {
    it.each(['/graphql', '/mcp'] as const)('in a transaction is told as such at %s', async (path) => {
      const { database } = scratch;
      const app = appOn({
        ...database,
        forTenant: (...given) => {
          const bound = database.forTenant(...given);
          return {
            ...bound,
            transaction: (work) =>
              bound.transaction(async (transaction) => {
                await lose();
                return work(transaction);
              }),
          };
        },
      });
      const text = await (await post(app, path, bodies[path])).text();
      await proxy.restore();
      await app.stop();

      expect(text).toContain('DATABASE_UNAVAILABLE');
      expect(text).toContain('Try again shortly.');
      expectNoInternals(text);
    });

    it.each(['/graphql', '/mcp', '/metrics'])('while a token is looked up is told as such at %s', async (path) => {
      const app = appOn(scratch.database, 'required');
      await lose();
      const response = await post(app, path, {});
      const { error } = (await response.json()) as { error: { code: unknown; data?: { code: string } } };
      await proxy.restore();
      await app.stop();

      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(error.data?.code ?? error.code).toBe('DATABASE_UNAVAILABLE');
      expectNoInternals(JSON.stringify(error));
    });
  });
});
