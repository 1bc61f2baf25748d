import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createToken, revokeToken, type IssuedToken, type NewToken } from '../../src/auth/tokens.ts';
import { createGrantWatch } from '../../src/auth/grant-watch.ts';
import type { Database } from '../../src/db/database.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { serveRequests, serveSubscriptions } from '../../src/http/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { storeEpisode } from '../support/writes.ts';

/** What was opened with a token does not outlive it. */

let testApp: TestApp;
let http: Server;
let url: string;

beforeAll(async () => {
  const config = testConfig();
  const auth = { ...config.auth, mode: 'required' as const };
  testApp = await createTestApp({ ...config, auth, mcp: { ...config.mcp, sessions: true } });
  ({ http } = serveRequests(testApp.app));
  serveSubscriptions(http, testApp.app, testApp.core);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(async () => {
  http.closeAllConnections();
  http.close();
  await testApp.close();
});

const context = (tenantId = 'house'): MemoryContext =>
  testApp.app.createContext({}, { tenantId, butler: null, role: 'admin' }).memory;
const issue = (given: Partial<NewToken> = {}): Promise<IssuedToken> =>
  createToken(context(), { name: 'test', role: 'operator', ...given });

interface Feed {
  /** Resolves when the feed has ended, with how. */
  ended: Promise<unknown>;
  hangUp(): unknown;
}

/** The one brings nothing in these tests, the other something at once. */
const quiet = 'subscription { activity { entityId } }';
const prompt = 'subscription { health { status } }';

/** Whoever has its answer is being served. */
function readStream(response: Response): Feed {
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async (): Promise<string> => {
    for (let isDone = false; !isDone;) isDone = (await reader.read()).done;
    return 'ended';
  };
  return { ended: read(), hangUp: () => reader.cancel() };
}

const headersOf = (token: string, more: Record<string, string> = {}): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  ...more,
});

async function openEvents(token: string, query: string): Promise<Feed> {
  const headers = headersOf(token, { accept: 'text/event-stream' });
  return readStream(await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) }));
}

async function openMcpStream(token: string): Promise<Feed> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const opened = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: headersOf(token, { accept: 'application/json, text/event-stream' }),
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  return readStream(
    await fetch(`${url}/mcp`, { headers: headersOf(token, { accept: 'text/event-stream', ...session }) }),
  );
}

async function openSocket(token: string, more: Record<string, unknown> = {}): Promise<Feed> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization: `Bearer ${token}`, ...more },
  });
  const feed = client.iterate({ query: prompt });
  const read = async (): Promise<string> => {
    for (let isDone: boolean | undefined = false; isDone !== true;) isDone = (await feed.next()).done;
    return 'ended';
  };
  // A socket does not tell when it has subscribed: what comes by it does.
  const first = feed.next();
  const isOpen = await first.then(
    () => true,
    () => false,
  );
  return { ended: (isOpen ? read() : first).catch(codeOf), hangUp: () => client.dispose() };
}

const codeOf = (error: unknown): unknown => (error as { code?: number }).code;

describe('feeds', () => {
  const openAll = async ({ token }: IssuedToken): Promise<Feed[]> => [
    await openEvents(token, quiet),
    await openEvents(token, prompt),
    await openMcpStream(token),
    await openSocket(token),
  ];
  const ends = (feeds: Feed[]): Promise<unknown[]> => Promise.all(feeds.map(({ ended }) => ended));
  const asTheyShould = ['ended', 'ended', 'ended', 4401];

  it('end when the token is revoked, and others go on', async () => {
    const [token, other] = [await issue(), await issue()];
    const [feeds, others] = [await openAll(token), await openAll(other)];
    const firstOf = (some: Feed[]): Promise<unknown> =>
      Promise.race([...some.map(({ ended }) => ended), Promise.resolve('none')]);

    await testApp.app.grantWatch.check();
    expect(await firstOf(feeds)).toBe('none');
    await revokeToken(context(), token.record.id);
    await testApp.app.grantWatch.check();

    expect(await ends(feeds)).toEqual(asTheyShould);
    expect(await firstOf(others)).toBe('none');
    await Promise.all(others.map((feed) => feed.hangUp()));
  });

  it('end when the token is over', async () => {
    const expiresAt = new Date(testApp.clock.now.getTime() + 60_000);
    const feeds = await openAll(await issue({ expiresAt }));

    const before = testApp.clock.now;
    testApp.clock.now = expiresAt;
    await testApp.app.grantWatch.check();
    testApp.clock.now = before;

    expect(await ends(feeds)).toEqual(asTheyShould);
  });

  it('that have ended are not looked up any more', async () => {
    const token = await issue();
    const feeds = await openAll(token);
    await Promise.all(feeds.map((feed) => feed.hangUp()));
    const findToken = vi.spyOn(testApp.core.db, 'findToken');
    await eventually(async () => {
      findToken.mockClear();
      await testApp.app.grantWatch.check();
      expect(findToken).not.toHaveBeenCalled();
    });
    findToken.mockRestore();
  });
});

describe('the look at what is open', () => {
  afterEach(() => vi.useRealTimers());

  it('is taken every ten seconds, and after one that failed', async () => {
    vi.useFakeTimers();
    const { logger, now } = testApp.core;
    const findToken = vi.fn<Database['findToken']>();
    findToken.mockRejectedValueOnce(new Error('the database is away')).mockResolvedValueOnce(undefined);
    const grantWatch = createGrantWatch({ db: { findToken }, now, logger });
    const principal = { tenantId: 'house', butler: null, role: 'operator' } as const;
    const { signal } = grantWatch.watch({ principal, endsAt: null, tokenHash: 'hash' });

    await vi.advanceTimersByTimeAsync(10_000);
    expect([findToken.mock.calls.length, signal.aborted]).toEqual([1, false]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([findToken.mock.calls.length, signal.aborted]).toEqual([2, true]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(findToken).toHaveBeenCalledTimes(2);
    grantWatch.close();
  });
});

describe('a socket', () => {
  it('works in the tenant that its first message names, and in no other', async () => {
    await storeEpisode(context('neighbour'), { content: 'tea', butler: 'home' });
    const { token } = await issue({ role: 'admin', across: ['neighbour'] });
    const there = await openSocket(token, { 'x-butler-tenant': 'neighbour' });
    const where = { eventType: 'tenant.entered' };
    expect(await testApp.core.db.forTenant('neighbour').client.memoryEvent.count({ where })).toBe(1);
    expect(await testApp.core.db.forTenant('house').client.accessRecord.findFirst()).toMatchObject({
      kind: 'feed',
      operations: ['health'],
      enteredTenant: 'neighbour',
    });
    await there.hangUp();
  });

  it.each(['stranger', 5, { tenant: 'neighbour' }])(
    'is closed to who names %j without a grant for it',
    async (name) => {
      const { token } = await issue({ role: 'admin', across: ['neighbour'] });
      expect(await (await openSocket(token, { 'x-butler-tenant': name })).ended).toBe(4403);
    },
  );
});
