import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';

let testApp: TestApp;
const lines: string[] = [];

beforeAll(async () => {
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  testApp = await createTestApp(testConfig(), logger);
});
afterAll(() => testApp.close());

const ask = (path: string, headers: Record<string, string> = {}, body?: object): Promise<Response> =>
  testApp.app.fetch(
    new Request(`http://localhost${path}`, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    }),
  );

describe('a media type', () => {
  const json = { 'content-type': 'Application/JSON; Charset=UTF-8' };
  const query = { query: '{ __typename }' };
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  it.each<[string, Record<string, string>, object]>([
    ['/graphql', { ...json, accept: 'Application/GraphQL-Response+JSON' }, query],
    ['/graphql', { ...json, accept: 'Application/JSON' }, query],
    ['/mcp', { ...json, accept: 'Application/JSON, Text/Event-Stream' }, ping],
  ])('may be written in any case at %s: %o', async (path, headers, body) => {
    const response = await ask(path, headers, body);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(
      path === '/mcp' ? 'application/json' : `${headers['accept']?.toLowerCase()}; charset=utf-8`,
    );
  });

  it('of a feed may be written in any case', async () => {
    const parameters = new URLSearchParams({ query: 'subscription { health { status } }' });
    const response = await ask(`/graphql?${parameters}`, { accept: 'Text/Event-Stream' });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();

    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  });

  it('of a form is refused in any case', async () => {
    expect((await ask('/graphql', { 'content-type': 'Text/Plain' }, query)).status).toBe(415);
  });
});

describe('the log', () => {
  it.each(['/reset/hunter2-secret', '/graphql/hunter2-secret', '/%E2%80%8Bhunter2-secret', '/?token=hunter2-secret'])(
    'does not repeat the path of a request to %s',
    async (path) => {
      lines.length = 0;
      await ask(path);

      const logged = lines.filter((line) => line.includes('"msg":"request"'));
      expect(logged).toHaveLength(1);
      expect(lines.join('')).not.toContain('hunter2');
    },
  );

  it('names the paths that are served', async () => {
    lines.length = 0;
    await ask('/graphql');
    await ask('/nowhere');

    expect(lines.map((line) => (JSON.parse(line) as { path?: string }).path)).toEqual(['/graphql', 'other']);
  });
});
