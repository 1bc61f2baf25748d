import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveRequests } from '../../src/http/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let testApp: TestApp;

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  testApp.app.fetch(new Request(`http://localhost${path}`, { headers }));

const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const hashOf = (html: string, element: string): string => {
  const text = html.slice(html.indexOf(`<${element}>`) + element.length + 2);
  return createHash('sha256')
    .update(text.slice(0, text.indexOf(`</${element}>`)))
    .digest('base64');
};

describe('every answer', () => {
  it.each([
    ['the first page', '/', {}, 200],
    ['health', '/healthz', {}, 200],
    ['readiness', '/readyz', {}, 503],
    ['metrics', '/metrics', {}, 200],
    ['a query', '/graphql?query={__typename}', {}, 200],
    ['a feed', '/graphql?query=subscription{health{status}}', { accept: 'text/event-stream' }, 200],
    ['the explorer', '/graphql', { accept: 'text/html' }, 200],
    ['a refusal of the door for agents', '/mcp', {}, 405],
    ['a refusal of a foreign page', '/', { origin: 'https://evil.example' }, 403],
    ['a path that is none', '/nowhere', {}, 404],
  ])('has the headers that keep browsers from misusing it: %s', async (_, path, headers, status) => {
    const response = await get(path, headers);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();

    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-security-policy': expect.stringContaining(nothing) as string,
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  it('says nothing of what made it', async () => {
    const { http } = serveRequests(testApp.app);
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    await response.text();
    http.closeAllConnections();
    http.close();

    expect(response.headers.has('server')).toBe(false);
    expect(response.headers.has('x-powered-by')).toBe(false);
  });
});

describe('the policy of a page', () => {
  it('lets the first page have its style and nothing else', async () => {
    const response = await get('/');
    const html = await response.text();

    expect(response.headers.get('content-security-policy')).toBe(
      `${nothing}; style-src 'sha256-${hashOf(html, 'style')}'`,
    );
  });

  it('lets the explorer run its own script, reach this server and load nothing from another', async () => {
    const response = await get('/graphql', { accept: 'text/html' });
    const html = await response.text();
    const policy = response.headers.get('content-security-policy') ?? '';

    expect(html.match(/<\/script>/g)).toHaveLength(1);
    expect(html).not.toContain('\r');
    expect(policy).toContain(`script-src 'sha256-${hashOf(html, 'script')}'`);
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  it('lets an answer that is no page do nothing', async () => {
    expect((await get('/graphql?query={__typename}')).headers.get('content-security-policy')).toBe(nothing);
  });
});
