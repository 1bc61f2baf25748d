import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { serveRequests, serveSubscriptions } from '../../src/http/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';

const friend = 'https://dashboard.example.com';
let open: TestApp;
let closed: TestApp;

beforeAll(async () => {
  const config = testConfig();
  open = await createTestApp({ ...config, butler: { ...config.butler, allowedOrigins: [friend] } });
  closed = await createTestApp();
});
afterAll(async () => {
  await open.close();
  await closed.close();
});

const body = JSON.stringify({ query: '{ __typename }' });
interface Sent {
  method?: string;
  body?: null;
  headers?: Record<string, string>;
}

const send = ({ app }: TestApp, origin: string, init: Sent = {}, path = '/graphql'): Promise<Response> => {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site', ...init.headers, origin };
  return app.fetch(new Request(`http://localhost${path}`, { method: 'POST', body, ...init, headers }));
};
const preflight = { method: 'OPTIONS', body: null, headers: { 'access-control-request-method': 'POST' } };
const corsHeaders = ({ headers }: Response): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('a page of an origin that is allowed', () => {
  it('may ask, and its browser lets it read the answer', async () => {
    const response = await send(open, friend);

    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
    expect(response.headers.get('access-control-allow-origin')).toBe(friend);
    expect(response.headers.get('access-control-expose-headers')).toContain('x-request-id');
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    expect(response.headers.get('vary')).toContain('origin');
  });

  it.each(['/graphql', '/mcp'])('is told before it asks what it may send to %s', async (path) => {
    const response = await send(open, friend, preflight, path);

    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('access-control-allow-origin')).toBe(friend);
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
    expect(response.headers.get('access-control-allow-headers')).toMatch(/authorization, content-type/);
  });

  it('may not hide its origin', async () => {
    const request = new Request('http://localhost/graphql?query={__typename}', {
      headers: { 'sec-fetch-site': 'cross-site' },
    });

    expect((await open.app.fetch(request)).status).toBe(403);
  });

  it('may open a socket, and others may not', async () => {
    const { http } = serveRequests(open.app);
    serveSubscriptions(http, open.app, open.core);
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    const connect = (origin: string): WebSocket =>
      new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { origin });
    const socket = connect(friend);
    await once(socket, 'open');
    socket.terminate();
    const [error] = (await once(connect('https://evil.example'), 'error')) as [Error];
    http.closeAllConnections();
    http.close();

    expect(error.message).toContain('403');
  });
});

describe('a page of another origin', () => {
  it.each([
    ['none of those that are allowed', () => open, 'https://evil.example'],
    ['one that only begins like it', () => open, `${friend}.evil.example`],
    ['the same host without encryption', () => open, 'http://dashboard.example.com'],
    ['one without an address', () => open, 'null'],
    ['any, where none is allowed', () => closed, friend],
  ])('may neither ask nor read: %s', async (_, testApp, origin) => {
    for (const init of [{}, preflight]) {
      const response = await send(testApp(), origin, init);
      expect(response.status).toBe(403);
      expect(corsHeaders(response)).toEqual([]);
    }
  });
});

describe('an answer to nobody of another site', () => {
  it('says nothing of other sites', async () => {
    const response = await closed.app.fetch(new Request('http://localhost/graphql?query={__typename}'));

    expect(response.status).toBe(200);
    expect(corsHeaders(response)).toEqual([]);
  });
});
