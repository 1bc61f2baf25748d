import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { connectMcp, type TestClient } from '../support/mcp-client.ts';

let testApp: TestApp;
let client: TestClient;

beforeAll(async () => {
  testApp = await createTestApp();
  client = await connectMcp(testApp.app);
});
afterAll(async () => {
  await client.close();
  await testApp.close();
});

const episode = { content: 'User waters the plants', butler: 'general' };

type Kept = Record<'requestId' | 'subrequestId' | 'segmentId', string | null>;

/** What the event of a write says of its request. */
async function requestOf(where: { entityId: string } | { requestId: string }): Promise<Kept> {
  const select = { requestId: true, subrequestId: true, segmentId: true };
  return testApp.core.db.forTenant('default').client.memoryEvent.findFirstOrThrow({ where, select });
}

async function post(path: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const response = await testApp.app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(body),
    }),
  );
  expect(response.status).toBe(200);
}

function storeMessage(given: object): object {
  const params = { name: 'memory_store_episode', arguments: given };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

describe('a request context', () => {
  it('comes back with the answer and is kept with the event', async () => {
    const request_context = { request_id: 'r-1', subrequest_id: 'part:2', segment_id: 'seg.3' };
    const stored = await client.call('memory_store_episode', {
      ...episode,
      request_context: { ...request_context, trace: 'x' },
    });

    expect(stored.structuredContent).toMatchObject({ ...episode, request_context });
    expect(stored.meta).toEqual({ request_context });
    expect(await requestOf({ entityId: stored.id })).toEqual({
      requestId: 'r-1',
      subrequestId: 'part:2',
      segmentId: 'seg.3',
    });
  });

  it('is taken by every tool, and by a read as well as by a write', async () => {
    const { tools } = await client.listTools();
    const read = await client.call('memory_health', { request_context: { request_id: 'r-2' } });

    expect(tools.filter(({ inputSchema }) => inputSchema.properties?.['request_context'] === undefined)).toEqual([]);
    expect(read.structuredContent).toMatchObject({ request_context: { request_id: 'r-2' } });
  });

  it('comes back with a refusal too', async () => {
    const refused = await client.call('memory_store_episode', { content: ' ', request_context: { request_id: 'r-3' } });

    expect(refused).toMatchObject({ isError: true, meta: { request_context: { request_id: 'r-3' } } });
  });

  it('is chosen by the server when the caller names none, and is told beside the result', async () => {
    const stored = await client.call('memory_store_episode', episode);
    const { requestId } = await requestOf({ entityId: stored.id });

    expect(stored.meta).toEqual({ request_context: { request_id: requestId } });
    expect(stored.structuredContent).not.toHaveProperty('request_context');
  });

  it.each<[string, unknown, RegExp]>([
    [
      'no object',
      'r-1',
      /^INVALID_INPUT: request_context must be an object \(got "r-1"\)\n.*\{"request_id": "your-id"\}/,
    ],
    ['without an id', {}, /^INVALID_INPUT: request_context\.request_id must be 1 to 128 letters/],
    ['an id that breaks a log line', { request_id: 'a\nb' }, /^INVALID_INPUT: request_context\.request_id.*"a\\nb"/],
  ])('is refused when it is %s, and nothing is written', async (_, request_context, message) => {
    const events = testApp.core.db.forTenant('default').client.memoryEvent;
    const before = await events.count();
    const { isError, text } = await client.call('memory_store_episode', { ...episode, request_context });

    expect({ isError, text }).toEqual({ isError: true, text: expect.stringMatching(message) as string });
    expect(await events.count()).toBe(before);
  });

  it.each([
    ['/graphql', { query: 'mutation { storeEpisode(input: { content: "a", butler: "b" }) { __typename } }' }],
    ['/mcp', storeMessage(episode)],
  ])('may come in the headers of a request to %s', async (path, body) => {
    const requestId = `header-of${path.replace('/', ':')}`;
    await post(path, body, { 'x-request-id': requestId, 'x-subrequest-id': 'h-2', 'x-segment-id': 'h-3' });

    expect(await requestOf({ requestId })).toEqual({ requestId, subrequestId: 'h-2', segmentId: 'h-3' });
  });

  it('in the arguments wins over that in the headers', async () => {
    const message = storeMessage({ ...episode, request_context: { request_id: 'argument' } });
    await post('/mcp', message, { 'x-request-id': 'header', 'x-segment-id': 'header' });

    expect(await requestOf({ requestId: 'argument' })).toMatchObject({ subrequestId: null, segmentId: null });
  });

  it('belongs to its own call among many at once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    const stored = await Promise.all(
      ids.map((request_id) => client.call('memory_store_episode', { ...episode, request_context: { request_id } })),
    );
    const kept = await Promise.all(stored.map(({ id }) => requestOf({ entityId: id })));

    expect(kept).toEqual(ids.map((requestId) => ({ requestId, subrequestId: null, segmentId: null })));
  });
});
