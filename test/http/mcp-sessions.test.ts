import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp, type App } from '../../src/http/app.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { mcpTransport, TestClient } from '../support/mcp-client.ts';

let testApp: TestApp;
let app: App;

beforeAll(async () => {
  testApp = await createTestApp();
});
beforeEach(() => {
  const { core } = testApp;
  const mcp = { ...core.config.mcp, sessions: true, sessionIdleSeconds: 60, maxSessions: 3 };
  app = createApp({ ...core, config: { ...core.config, mcp } });
});
afterEach(() => app.stop());
afterAll(() => testApp.close());

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const episode = { content: 'User opens the window', butler: 'general' };
const store = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'memory_store_episode', arguments: episode },
};

async function send(method: string, session: string | undefined, message?: object, path = '/mcp'): Promise<Response> {
  return app.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      ...(message !== undefined && { body: JSON.stringify(message) }),
    }),
  );
}

async function open(path?: string): Promise<string> {
  const response = await send('POST', undefined, initialize, path);
  expect(response.status).toBe(200);
  return response.headers.get('mcp-session-id') ?? expect.unreachable('no session was given');
}

const statusOf = async (session: string): Promise<number> => (await send('POST', session, list)).status;

const passSeconds = (seconds: number): void => {
  testApp.clock.now = new Date(testApp.clock.now.getTime() + seconds * 1000);
};

describe('a session', () => {
  it('serves a real client from its first request to the end that it asks for', async () => {
    const client = new TestClient({ name: 'test', version: '1' });
    const transport = mcpTransport(app);
    await client.connect(transport);
    const session = transport.sessionId ?? expect.unreachable('no session was given');
    const { tools } = await client.listTools();
    const stored = await client.call('memory_store_episode', episode);
    await transport.terminateSession();
    await client.close();

    expect(tools.length).toBeGreaterThan(0);
    expect(stored.structuredContent).toMatchObject(episode);
    expect(await statusOf(session)).toBe(404);
  });

  it('is not needed: a request without one is answered alone', async () => {
    const response = await send('POST', undefined, list);

    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
  });

  it('keeps the groups of tools that it was opened with', async () => {
    const session = await open('/mcp?groups=read');
    const { result } = (await (await send('POST', session, list)).json()) as { result: { tools: { name: string }[] } };

    expect(result.tools.map(({ name }) => name)).toContain('memory_get');
    expect(result.tools.map(({ name }) => name)).not.toContain('memory_store_episode');
  });

  it('writes under the ids of each request', async () => {
    const session = await open();
    const response = await app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': session,
          'x-request-id': 'of-this-request',
        },
        body: JSON.stringify(store),
      }),
    );

    expect(await response.json()).toMatchObject({
      result: { _meta: { request_context: { request_id: 'of-this-request' } } },
    });
  });

  it.each([
    ['POST', 404],
    ['GET', 404],
    ['DELETE', 404],
  ])('that is unknown gets %s answered with %i', async (method, status) => {
    const response = await send(method, 'no-such-session', method === 'POST' ? list : undefined);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('initialize again') as string },
    });
  });

  it.each(['GET', 'DELETE'])('must be named by %s', async (method) => {
    expect((await send(method, undefined)).status).toBe(400);
  });

  it('takes no other method', async () => {
    const response = await send('PUT', undefined);

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST, DELETE');
  });

  it('has one stream, which can be opened again when its client has left', async () => {
    const session = await open();
    const first = await send('GET', session);
    const second = await send('GET', session);
    await first.body?.cancel();
    const third = await send('GET', session);

    expect([first.status, second.status, third.status]).toEqual([200, 409, 200]);
    expect(first.headers.get('content-type')).toBe('text/event-stream');
  });

  it('ends its stream when it ends', async () => {
    const session = await open();
    const stream = await send('GET', session);
    const ended = stream.text();
    const { status } = await send('DELETE', session);

    expect(status).toBe(200);
    expect(await ended).toBe(': open\n\n');
    expect(await statusOf(session)).toBe(404);
  });

  it('ends when it has been idle for as long as configured, counted from its last request', async () => {
    const session = await open();
    passSeconds(59);
    expect(await statusOf(session)).toBe(200);
    passSeconds(59);
    expect(await statusOf(session)).toBe(200);
    passSeconds(60);
    expect(await statusOf(session)).toBe(404);
  });

  it('does not end by itself while its stream is open', async () => {
    const session = await open();
    const stream = await send('GET', session);
    passSeconds(600);
    expect(await statusOf(session)).toBe(200);
    await stream.body?.cancel();
    passSeconds(600);
    expect(await statusOf(session)).toBe(404);
  });

  it('makes room for a new one when there are too many, the one that was idle the longest first', async () => {
    const sessions = [await open(), await open(), await open()];
    await statusOf(sessions[0] as string);
    const fourth = await open();

    expect(await Promise.all([...sessions, fourth].map(statusOf))).toEqual([200, 404, 200, 200]);
  });

  it('is refused while all there may be are in use', async () => {
    for (const session of [await open(), await open(), await open()]) await send('GET', session);
    const response = await send('POST', undefined, initialize);

    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { message: 'sessions must be at most 3 at one time' } });
    expect((await send('POST', undefined, list)).status).toBe(200);
  });

  it('never exceeds the number that is configured, however many ask at once', async () => {
    const opened = await Promise.all(Array.from({ length: 20 }, () => send('POST', undefined, initialize)));
    const ids = opened.map(({ headers }) => headers.get('mcp-session-id')).filter((id) => id !== null);
    const statuses = await Promise.all(ids.map(statusOf));

    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(3);
    expect(opened.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  });

  it('answers many requests at once, each with its own answer', async () => {
    const session = await open();
    const ids = Array.from({ length: 25 }, (_, index) => index + 10);
    const answers = await Promise.all(
      ids.map(async (id) => {
        const params = { name: 'memory_store_episode', arguments: { ...episode, content: `Step ${id}` } };
        const response = await send('POST', session, { ...store, id, params });
        return (await response.json()) as { id: number; result: { structuredContent: { content: string } } };
      }),
    );

    expect(answers.map(({ id, result }) => [id, result.structuredContent.content])).toEqual(
      ids.map((id) => [id, `Step ${id}`]),
    );
  });

  it('ends with the server', async () => {
    const session = await open();
    const stream = await send('GET', session);
    await app.stop();

    expect(await stream.text()).toBe(': open\n\n');
    expect(await statusOf(session)).toBe(404);
  });
});
