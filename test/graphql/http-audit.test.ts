import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServerAdapter } from '@whatwg-node/server';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let testApp: TestApp;
let server: Server;

beforeAll(async () => {
  testApp = await createTestApp();
  const adapter = createServerAdapter((request) => testApp.app.fetch(request));
  server = createServer((request, response) => void adapter(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await testApp.close();
});

/** The audit of the "GraphQL over HTTP" specification, as its reference implementation ships it. */
describe('GraphQL over HTTP', () => {
  const audits = serverAudits({ url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` });

  it.each(audits.map(({ name, fn }) => [name, fn] as const))('%s', async (_name, fn) => {
    const result = await fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
});
