import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSessions, type Session, type Sessions } from '../../src/mcp/sessions.ts';

let sessions: Sessions;
let session: Session;
let id: string | undefined;
let begun: Promise<void>;

beforeEach(async () => {
  id = undefined;
  sessions = createSessions({ idleSeconds: 60, maxSessions: 2, now: () => new Date(0) });
  const { server, hasBegun } = createEndlessServer();
  begun = hasBegun;
  const opened = await sessions.open(server, 'owner', request('POST'), initialize);
  id = opened.headers.get('mcp-session-id') ?? expect.unreachable('no session was given');
  session = sessions.find(id ?? '', 'owner') ?? expect.unreachable('the session is not kept');
});
afterEach(() => sessions.close());

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'endless' } };
const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };

/** Its tool never answers. */
function createEndlessServer(): { server: Server; hasBegun: Promise<void> } {
  const server = new Server({ name: 'endless', version: '1' }, { capabilities: { tools: {} } });
  const hasBegun = new Promise<void>((resolve) =>
    server.setRequestHandler(CallToolRequestSchema, () => {
      resolve();
      return new Promise<never>(() => undefined);
    }),
  );
  return { server, hasBegun };
}

function request(method: string): Request {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return new Request('http://localhost/mcp', {
    method,
    headers: id === undefined ? headers : { ...headers, 'mcp-session-id': id },
  });
}

describe('a request that is under way in a session', () => {
  it('is answered with 202 when its client cancels it', async () => {
    const answer = session.answer(request('POST'), call);
    await begun;
    const cancelled = await session.answer(request('POST'), cancel);

    expect([cancelled.status, (await answer).status]).toEqual([202, 202]);
  });

  it('is answered with 404 when the session is deleted', async () => {
    const answer = session.answer(request('POST'), call);
    await begun;
    await session.answer(request('DELETE'));

    expect((await answer).status).toBe(404);
    expect(sessions.find(id ?? '', 'owner')).toBeUndefined();
  });

  it('is answered with 404 when all sessions are closed', async () => {
    const answer = session.answer(request('POST'), call);
    await begun;
    await sessions.close();

    expect((await answer).status).toBe(404);
  });

  it('keeps its id to itself until it is answered', async () => {
    const answer = session.answer(request('POST'), call);
    await begun;
    const second = await session.answer(request('POST'), call);
    await session.answer(request('POST'), cancel);
    await answer;

    expect(second.status).toBe(400);
    expect(await second.json()).toMatchObject({
      error: { message: 'id must be one that no request under way has (got 1)' },
    });
    const third = session.answer(request('POST'), call);
    await session.answer(request('POST'), cancel);
    expect((await third).status).toBe(202);
  });

  it('keeps its session from being ended to make room', async () => {
    const answer = session.answer(request('POST'), call);
    await begun;
    for (let count = 0; count < 3; count += 1) await openAnother();

    expect(sessions.find(id ?? '', 'owner')).toBe(session);
    await session.answer(request('POST'), cancel);
    await answer;
    for (let count = 0; count < 3; count += 1) await openAnother();
    expect(sessions.find(id ?? '', 'owner')).toBeUndefined();
  });
});

describe('a session', () => {
  it('is not there for another caller', () => {
    expect(sessions.find(id ?? '', 'owner')).toBe(session);
    expect(sessions.find(id ?? '', 'of another caller')).toBeUndefined();
  });
});

async function openAnother(): Promise<void> {
  const { status } = await sessions.open(createEndlessServer().server, 'owner', request('POST'), initialize);
  expect(status).toBe(200);
}
