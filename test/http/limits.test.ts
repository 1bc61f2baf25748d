import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createClient, type Client } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createApp, type App } from '../../src/http/app.ts';
import { createToken, hashToken, revokeToken } from '../../src/auth/tokens.ts';
import type { Config } from '../../src/config/schema.ts';
import { serveRequests, serveSubscriptions, type ClientTimes } from '../../src/http/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { openEventStream, openSocketFeed } from '../support/feeds.ts';

let testApp: TestApp;
let home: string;
let work: string;

beforeAll(async () => {
  testApp = await createTestApp();
  const { memory } = testApp.app.createContext({}, { tenantId: 'house', butler: null, role: 'admin' });
  const tokenOf = async (butler: string): Promise<string> =>
    (await createToken(memory, { name: butler, role: 'butler', butler })).token;
  [home, work] = [await tokenOf('home'), await tokenOf('work')];
});
afterAll(() => testApp.close());

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).toReversed()) await end();
});

type Given = Partial<Config['limits']> & { mode?: Config['auth']['mode']; sessions?: boolean };

/** The server with other limits, which nobody has come near yet. */
function appWith({ mode = 'required', sessions = false, ...limits }: Given): App {
  const { core } = testApp;
  const config: Config = {
    ...core.config,
    auth: { ...core.config.auth, mode },
    mcp: { ...core.config.mcp, sessions },
    limits: { ...core.config.limits, ...limits },
  };
  const app = createApp({ ...core, config });
  ends.push(() => app.stop());
  return app;
}

const passSeconds = (seconds: number): void => {
  testApp.clock.now = new Date(testApp.clock.now.getTime() + seconds * 1000);
};

const bearer = (token?: string): Record<string, string> => (token ? { authorization: `Bearer ${token}` } : {});
const query = JSON.stringify({ query: '{ __typename }' });
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

function post(app: App, token?: string, path = '/graphql', body: BodyInit = path === '/mcp' ? ping : query) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = { method: 'POST', headers: { ...headers, ...bearer(token) }, body, duplex: 'half' };
  return app.fetch(new Request(`http://localhost${path}`, request));
}

const statusesOf = async (count: number, ask: () => Promise<Response>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) statuses.push((await ask()).status);
  return statuses;
};

/** How many there are of each. */
const countsOf = (statuses: readonly number[]): Record<number, number> =>
  Object.fromEntries([...new Set(statuses)].map((one) => [one, statuses.filter((status) => status === one).length]));

interface Resolvable<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

function promise<T>(): Resolvable<T> {
  let resolve: (value: T) => void = () => undefined;
  return { promise: new Promise<T>((given) => (resolve = given)), resolve: (value) => resolve(value) };
}

/** A request that the server is at work on until it is told to end: the rest of its body is still to come. */
async function begin(app: App, token?: string): Promise<{ answer: Promise<Response>; end(): Promise<number> }> {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const read = promise<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => void (controller = given),
      pull: () => read.resolve(),
    },
    { highWaterMark: 0 },
  );
  const answer = post(app, token, '/graphql', body);
  await read.promise;
  const end = async (): Promise<number> => {
    controller?.enqueue(new TextEncoder().encode(query));
    controller?.close();
    return (await answer).status;
  };
  return { answer, end };
}

const refusedFor = async (app: App, reason: string): Promise<number> => {
  const { text } = await app.metrics.render();
  return Number(new RegExp(`butler_memory_refused_total{reason="${reason}"} (\\d+)`).exec(text)?.[1]);
};

describe('the rate of requests', () => {
  it.each(['/graphql', '/mcp'])('of one caller to %s has an end, and another is not touched by it', async (path) => {
    const app = appWith({ requestsPerMinute: 60, burst: 3 });

    expect(await statusesOf(5, () => post(app, home, path))).toEqual([200, 200, 200, 429, 429]);
    expect(await statusesOf(3, () => post(app, work, path))).toEqual([200, 200, 200]);
    passSeconds(1);
    expect(await statusesOf(2, () => post(app, home, path))).toEqual([200, 429]);
    passSeconds(600);
    expect(await statusesOf(4, () => post(app, home, path))).toEqual([200, 200, 200, 429]);
    expect(await refusedFor(app, 'rate')).toBe(4);
  });

  it('is told with when to come again, in the form of the door', async () => {
    const app = appWith({ requestsPerMinute: 4, burst: 1 });
    await post(app, home);
    const [graphql, mcp] = [await post(app, home), await post(app, home, '/mcp')];
    const message = 'requests of one caller must be at most 4 a minute (got more)';

    expect([graphql.headers.get('retry-after'), mcp.headers.get('retry-after')]).toEqual(['15', '15']);
    expect(await graphql.json()).toEqual({
      error: { code: 'LIMIT_EXCEEDED', message, hint: 'Try again in 15 seconds.' },
    });
    expect(await mcp.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_603, message: `${message} (Try again in 15 seconds.)`, data: { code: 'LIMIT_EXCEEDED' } },
    });
    passSeconds(14.5);
    expect((await post(app, home)).headers.get('retry-after')).toBe('1');
  });

  it('holds for the local operator, whatever header it sends', async () => {
    const app = appWith({ mode: 'none', burst: 2 });

    expect(await statusesOf(2, () => post(app))).toEqual([200, 200]);
    expect(await statusesOf(1, () => post(app, 'nonsense'))).toEqual([429]);
  });

  it('is not spent by those who cannot say who they are', async () => {
    const app = appWith({ burst: 1 });

    expect(await statusesOf(3, () => post(app, 'bmt_nonsense'))).toEqual([401, 401, 401]);
    expect(await statusesOf(1, () => post(app, home))).toEqual([200]);
    expect(await refusedFor(app, 'unauthenticated')).toBe(3);
  });

  it('once it is spent costs the database nothing', async () => {
    const app = appWith({ burst: 1 });
    await post(app, home);
    const lookUps = vi.spyOn(testApp.core.db, 'findToken');
    const statuses = await statusesOf(5, () => post(app, home));
    const { calls } = lookUps.mock;
    lookUps.mockRestore();

    expect(statuses).toEqual([429, 429, 429, 429, 429]);
    expect(calls).toEqual([]);
  });

  it('earns nothing from a clock that is set back', async () => {
    const app = appWith({ requestsPerMinute: 60, burst: 2 });
    await post(app, home);
    passSeconds(-3600);
    expect(await statusesOf(2, () => post(app, home))).toEqual([200, 429]);
    passSeconds(1);
    expect(await statusesOf(2, () => post(app, home))).toEqual([200, 429]);
    passSeconds(3600);
  });
});

/** Lets everything go on that waits for nothing from outside. */
const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) await turn();
};

/** Whether the request has been answered by now. */
const isAnswered = async (answer: Promise<unknown>): Promise<boolean> => {
  await settle();
  return Promise.race([answer.then(() => true), Promise.resolve(false)]);
};

describe('requests that run', () => {
  it('of one caller have an end, and one more waits until one of them is done', async () => {
    const app = appWith({ maxConcurrentPerCaller: 2 });
    const [first, second] = [await begin(app, home), await begin(app, home)];
    const third = post(app, home);

    expect(await isAnswered(third)).toBe(false);
    expect((await post(app, work)).status).toBe(200);
    expect(await first.end()).toBe(200);
    expect((await third).status).toBe(200);
    expect(await second.end()).toBe(200);
  });

  it('of all callers have an end, and one more waits until one of them is done', async () => {
    const app = appWith({ maxConcurrent: 2 });
    const [first, second] = [await begin(app, home), await begin(app, work)];
    const third = post(app, work, '/mcp');

    expect(await isAnswered(third)).toBe(false);
    expect((await post(app, 'bmt_nonsense')).status).toBe(401);
    expect([await first.end(), (await third).status, await second.end()]).toEqual([200, 200, 200]);
  });

  it('wait in a queue of each caller, and one that is full is told with its code and when to try again', async () => {
    const app = appWith({ maxConcurrentPerCaller: 1, maxQueuedPerCaller: 2 });
    const first = await begin(app, home);
    const waiting = [post(app, home), post(app, home)];
    const [graphql, mcp] = [await post(app, home), await post(app, home, '/mcp')];
    const message = 'queue of one caller must hold at most 2 requests (got one more)';

    expect([graphql.status, graphql.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await graphql.json()).toEqual({ error: { code: 'QUEUE_FULL', message, hint: 'Try again in 1 second.' } });
    expect([mcp.status, mcp.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await mcp.json()).toMatchObject({
      error: { message: `${message} (Try again in 1 second.)`, data: { code: 'QUEUE_FULL' } },
    });
    expect((await post(app, work)).status).toBe(200);
    expect(await first.end()).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await refusedFor(app, 'caller_queue')).toBe(2);
  });

  it('wait in a queue of all callers, and one that is full is told as such', async () => {
    const app = appWith({ maxConcurrent: 1, maxQueued: 1 });
    await post(app, work);
    const first = await begin(app, home);
    const waiting = post(app, work);
    expect((await post(app, 'bmt_nonsense')).status).toBe(401);
    const refused = await post(app, home);

    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'QUEUE_FULL' } });
    expect([await first.end(), (await waiting).status]).toEqual([200, 200]);
    expect(await refusedFor(app, 'queue')).toBe(1);
  });

  it('of one caller that comes with far too many at once delay another by one of them', async () => {
    const app = appWith({ maxConcurrent: 1, maxQueuedPerCaller: 100 });
    const order: string[] = [];
    const send = async (token: string, name: string): Promise<void> => {
      await post(app, token);
      order.push(name);
    };
    await Promise.all([post(app, home), post(app, work)]);
    const first = await begin(app, home);
    const flood = Array.from({ length: 50 }, () => send(home, 'flood'));
    const other = send(work, 'other');
    await settle();
    expect(await first.end()).toBe(200);
    await Promise.all([...flood, other]);

    expect(order).toHaveLength(51);
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
  });

  it('that wait for half of their time are answered with TIMEOUT and not begun', async () => {
    const app = appWith({ mode: 'none', maxConcurrent: 1, requestTimeoutSeconds: 8 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const first = await begin(app);
    const waiting = post(app);
    await settle();
    vi.advanceTimersByTime(4000);
    const answer = await waiting;

    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'TIMEOUT',
        message: 'request must be started within 4 seconds (got no turn by then); nothing was done',
      },
    });
    vi.useRealTimers();
    expect(await first.end()).toBe(200);
    expect((await post(app)).status).toBe(200);
  });

  it('whose client hangs up while they wait leave the queue', async () => {
    const app = appWith({ mode: 'none', maxConcurrent: 1, maxQueued: 1 });
    const first = await begin(app);
    const hangUp = new AbortController();
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: query, signal: hangUp.signal };
    const abandoned = app.fetch(new Request('http://localhost/graphql', request));
    await settle();
    expect((await post(app)).status).toBe(503);
    hangUp.abort();
    expect((await abandoned).status).toBe(499);
    const next = post(app);
    expect(await isAnswered(next)).toBe(false);

    expect([await first.end(), (await next).status]).toEqual([200, 200]);
  });

  /** Until they are let go, all who are looked up wait for it. */
  const holdLookUps = (): { release: () => void } => {
    const held = promise<void>();
    const findToken = testApp.core.db.findToken.bind(testApp.core.db);
    const lookUps = vi.spyOn(testApp.core.db, 'findToken').mockImplementation(async (...given) => {
      await held.promise;
      return findToken(...given);
    });
    ends.push(() => lookUps.mockRestore());
    return { release: () => held.resolve() };
  };

  it.each(['for the first time', 'once more'])(
    'of one caller take no place of others while its token is looked up %s',
    async (when) => {
      const app = appWith({ maxConcurrent: 8, maxConcurrentPerCaller: 2, maxQueuedPerCaller: 10 });
      if (when === 'once more') for (const token of [home, work]) await post(app, token);
      const lookUps = holdLookUps();
      const flood = Array.from({ length: 20 }, () => post(app, home));
      const other = post(app, work);
      lookUps.release();

      expect((await other).status).toBe(200);
      const statuses = (await Promise.all(flood)).map(({ status }) => status);
      expect(countsOf(statuses)).toEqual({ 200: 12, 429: 8 });
    },
  );

  it('of strangers, each with another token, take no place of those who are known', async () => {
    const app = appWith({ maxConcurrent: 4, maxQueued: 5 });
    await post(app, home);
    const findToken = testApp.core.db.findToken.bind(testApp.core.db);
    const ofHome = hashToken(home);
    const held = promise<void>();
    const lookUps = vi.spyOn(testApp.core.db, 'findToken').mockImplementation(async (hash, at) => {
      if (hash !== ofHome) await held.promise;
      return findToken(hash, at);
    });
    ends.push(() => lookUps.mockRestore());
    const strangers = Array.from({ length: 9 }, (_, index) => post(app, `bmt_made-up-${index}`));
    await settle();

    expect((await post(app, home)).status).toBe(200);
    expect(lookUps.mock.calls.filter(([hash]) => hash !== ofHome)).toHaveLength(2);
    held.resolve();
    const statuses = (await Promise.all(strangers)).map(({ status }) => status);
    expect(countsOf(statuses)).toEqual({ 401: 7, 503: 2 });
    expect((await post(app, work)).status).toBe(200);
  });

  it('with a token that was revoked take no place of whom it was for', async () => {
    const app = appWith({ maxConcurrentPerCaller: 1 });
    const { memory } = testApp.app.createContext({}, { tenantId: 'house', butler: null, role: 'admin' });
    const stolen = await createToken(memory, { name: 'stolen', role: 'butler', butler: 'home' });
    await post(app, stolen.token);
    await revokeToken(memory, stolen.record.id);
    expect((await post(app, stolen.token)).status).toBe(401);
    const lookUps = holdLookUps();
    const theft = post(app, stolen.token);
    const rightful = post(app, home);
    lookUps.release();

    expect([(await theft).status, (await rightful).status]).toEqual([401, 200]);
  });

  it('that are too many keep nobody from health, readiness, metrics and the first page', async () => {
    const app = appWith({ mode: 'none', maxConcurrent: 1, maxQueued: 0, burst: 2 });
    const only = await begin(app);
    const paths = ['/', '/healthz', '/metrics', '/.well-known/oauth-protected-resource'];
    const get = (path: string): Promise<Response> => app.fetch(new Request(`http://localhost${path}`));

    expect(await Promise.all(paths.map(async (path) => (await get(path)).status))).toEqual([200, 200, 200, 200]);
    expect(await (await get('/readyz')).json()).toHaveProperty('checks');
    expect((await post(app)).status).toBe(503);
    expect(await only.end()).toBe(200);
    expect(await statusesOf(2, () => post(app))).toEqual([200, 429]);
  });
});

describe('a request that takes too long', () => {
  it('is answered with TIMEOUT, and takes up its place until its work has ended', async () => {
    const app = appWith({ mode: 'none', requestTimeoutSeconds: 7, maxConcurrentPerCaller: 1, maxQueuedPerCaller: 0 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const slow = await begin(app);
    vi.advanceTimersByTime(7000);
    const answer = await slow.answer;

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject({
      error: { code: 'TIMEOUT', message: 'request must be answered within 7 seconds (got no answer by then)' },
    });
    expect((await post(app)).status).toBe(429);
    await slow.end();
    await eventually(async () => expect((await post(app)).status).toBe(200));
    expect(await refusedFor(app, 'timeout')).toBe(1);
  });

  it('does nothing that it had not begun', async () => {
    const { core } = testApp;
    const held = promise<void>();
    const reached = promise<void>();
    const embed = core.embedder.embed.bind(core.embedder);
    const embedding = vi.spyOn(core.embedder, 'embed').mockImplementationOnce(async (texts) => {
      reached.resolve();
      await held.promise;
      return embed(texts);
    });
    ends.push(() => embedding.mockRestore());
    const app = appWith({ mode: 'none', requestTimeoutSeconds: 7 });
    const store = (name: string): string =>
      `${name}: storeEpisode(input: { content: "${name}", butler: "slow" }) { __typename }`;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const body = JSON.stringify({ query: `mutation { ${store('first')} ${store('second')} }` });
    const answer = post(app, undefined, '/graphql', body);
    await reached.promise;
    vi.advanceTimersByTime(7000);
    vi.useRealTimers();
    expect((await answer).status).toBe(503);
    held.resolve();
    const contents = async (): Promise<string[]> => {
      const { episode } = core.db.forTenant('default').client;
      return (await episode.findMany({ where: { butler: 'slow' } })).map(({ content }) => content);
    };
    await eventually(async () => expect(await contents()).toContain('first'));
    await post(app, undefined, '/graphql', JSON.stringify({ query: `mutation { ${store('third')} }` }));

    expect((await contents()).toSorted()).toEqual(['first', 'third']);
  });
});

const feed = 'subscription { activity { uuid } }';

describe('feeds over server-sent events', () => {
  const open = (app: App, token?: string): Promise<Response> =>
    app.fetch(
      new Request('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(token) },
        body: JSON.stringify({ query: feed }),
      }),
    );
  interface Opened {
    status: number;
    response: Response;
    close(): Promise<void>;
  }
  /** With its first bytes read, as only then there is something to close. */
  const opened = async (app: App, token?: string): Promise<Opened> => {
    const response = await open(app, token);
    const reader = response.ok ? response.body?.getReader() : undefined;
    await reader?.read();
    const close = async (): Promise<void> => reader?.cancel();
    ends.push(close);
    return { status: response.status, response, close };
  };

  it('of one caller have an end, and one that is closed makes room', async () => {
    const app = appWith({ maxFeedsPerCaller: 2 });
    const [first, second, third] = [await opened(app, home), await opened(app, home), await opened(app, home)];

    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
    expect(third.response.headers.get('retry-after')).toBe('5');
    expect(await third.response.text()).toMatch(/feeds of one caller must be at most 2 at one time.*LIMIT_EXCEEDED/);
    expect((await opened(app, work)).status).toBe(200);
    await first.close();
    expect((await opened(app, home)).status).toBe(200);
    expect(await refusedFor(app, 'caller_feeds')).toBe(1);
  });

  it('of all callers have an end', async () => {
    const app = appWith({ maxFeeds: 1 });
    const first = await opened(app, home);

    expect((await opened(app, work)).status).toBe(503);
    await first.close();
    expect((await opened(app, work)).status).toBe(200);
    expect(await refusedFor(app, 'feeds')).toBe(1);
  });

  it('take up no place among the requests, and queries none among the feeds', async () => {
    const app = appWith({ maxConcurrent: 1, maxConcurrentPerCaller: 1, maxFeedsPerCaller: 1, mode: 'none' });
    await opened(app);

    expect(await statusesOf(3, () => post(app))).toEqual([200, 200, 200]);
    const events = await openEventStream((request) => app.fetch(request), 'http://localhost', '{ __typename }');
    expect((await events.next()).value).toEqual({ data: { __typename: 'Query' } });
  });

  it('of a client that hung up before it was answered make room', async () => {
    const app = appWith({ mode: 'none', maxFeedsPerCaller: 1 });
    const hangUp = new AbortController();
    const request = new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: feed }),
      signal: hangUp.signal,
    });
    await app.fetch(request);
    hangUp.abort();

    expect((await opened(app)).status).toBe(200);
  });

  it('that cannot begin take up no place', async () => {
    const app = appWith({ mode: 'none', maxFeedsPerCaller: 1 });
    const unknown = `subscription { activity(after: "00000000-0000-4000-8000-000000000000") { uuid } }`;
    for (let index = 0; index < 3; index++) {
      const events = await openEventStream((request) => app.fetch(request), 'http://localhost', unknown);
      expect(JSON.stringify((await events.next()).value)).toContain('NOT_FOUND');
      await events.next();
    }

    expect((await opened(app)).status).toBe(200);
  });
});

describe('the streams of MCP sessions', () => {
  it('are feeds', async () => {
    const app = appWith({ mode: 'none', sessions: true, maxFeedsPerCaller: 1 });
    const initialize = JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    const listen = async (): Promise<Response> => {
      const opening = await post(app, undefined, '/mcp', initialize);
      const session = { 'mcp-session-id': opening.headers.get('mcp-session-id') ?? '' };
      return app.fetch(new Request('http://localhost/mcp', { headers: { accept: 'text/event-stream', ...session } }));
    };
    const first = await listen();
    expect([first.status, (await listen()).status]).toEqual([200, 429]);
    await first.body?.cancel();
    const third = await listen();
    expect(third.status).toBe(200);
    await third.body?.cancel();
  });
});

/** On a port, in this process. */
async function listenWith(app: App, times?: ClientTimes): Promise<{ http: Server; url: string; port: number }> {
  const { http } = serveRequests(app, times);
  serveSubscriptions(http, app, testApp.core);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  ends.push(async () => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { http, port, url: `http://127.0.0.1:${port}` };
}

describe('operations over graphql-ws', () => {
  const clientOf = (url: string): Client => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazy: true,
      lazyCloseTimeout: 60_000,
    });
    ends.push(() => client.dispose());
    return client;
  };
  const ask = async (client: Client, document = '{ __typename }'): Promise<unknown> => {
    try {
      return (await client.iterate({ query: document }).next()).value;
    } catch (error) {
      return { errors: error };
    }
  };
  const refusal = (message: string, code = 'LIMIT_EXCEEDED'): object => ({
    errors: [{ message: expect.stringContaining(message) as string, extensions: { code } }],
  });

  it('spend the same requests, and the connection stays', async () => {
    const app = appWith({ mode: 'none', requestsPerMinute: 60, burst: 3 });
    const { url } = await listenWith(app);
    const client = clientOf(url);

    expect((await post(app)).status).toBe(200);
    expect(await ask(client)).toEqual({ data: { __typename: 'Query' } });
    expect(await ask(client, '{ nonsense }')).toHaveProperty('errors');
    expect(await ask(client)).toMatchObject(refusal('requests of one caller must be at most 60 a minute'));
    passSeconds(1);
    expect(await ask(client)).toEqual({ data: { __typename: 'Query' } });
  });

  it('share the places and the queue with the requests', async () => {
    const app = appWith({ mode: 'none', maxConcurrentPerCaller: 1, maxQueuedPerCaller: 1 });
    const { url } = await listenWith(app);
    const client = clientOf(url);
    const slow = await begin(app);
    const waiting = post(app);
    await settle();

    expect(await ask(client)).toMatchObject(refusal('queue of one caller must hold at most 1', 'QUEUE_FULL'));
    expect([await slow.end(), (await waiting).status]).toEqual([200, 200]);
    expect(await ask(client)).toEqual({ data: { __typename: 'Query' } });
    const another = await begin(app);
    const answer = ask(client);
    expect(await another.end()).toBe(200);
    expect(await answer).toEqual({ data: { __typename: 'Query' } });
  });

  it('share the feeds, and a client that is gone makes room', async () => {
    const app = appWith({ mode: 'none', maxFeedsPerCaller: 1 });
    const { url } = await listenWith(app);
    const health = 'subscription { health { status } }';
    const first = openSocketFeed(url, health);
    ends.push(() => first.return?.());
    await first.next();
    const sse = async (): Promise<string> => {
      const second = await openEventStream((request) => app.fetch(request), url, health);
      const { value } = await second.next();
      await second.return?.();
      return JSON.stringify(value);
    };

    expect(await sse()).toContain('LIMIT_EXCEEDED');
    await first.return?.();
    await eventually(async () => expect(await sse()).toContain('"status"'));
  });

  it('come over so many connections of one caller, and no more', async () => {
    const app = appWith({ mode: 'none', maxFeedsPerCaller: 1 });
    const { url } = await listenWith(app);
    const first = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(first, 'open');
    first.send(JSON.stringify({ type: 'connection_init' }));
    await once(first, 'message');
    const second = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(second, 'open');
    second.send(JSON.stringify({ type: 'connection_init' }));
    const [code, reason] = (await once(second, 'close')) as [number, Buffer];

    expect([code, reason.toString()]).toEqual([
      1013,
      'connections of one caller must be at most 1 at one time (got one more)',
    ]);
    expect(await refusedFor(app, 'caller_sockets')).toBe(1);
    first.close();
    await once(first, 'close');
    await eventually(async () => expect(await ask(clientOf(url))).toEqual({ data: { __typename: 'Query' } }));
  });
});

describe('a connection', () => {
  it('that sends its headers byte by byte is cut off', async () => {
    const { port } = await listenWith(appWith({}), { headersMs: 200, idleMs: 60_000, checkMs: 20 });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const head = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Filler: ';
    let sent = 0;
    const drip = setInterval(() => socket.write(head[sent++] ?? 'x'), 10);
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    await once(socket, 'close');
    clearInterval(drip);

    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('beyond those that are taken is closed at once, until one of them is gone', async () => {
    const app = appWith({ maxConnections: 1 });
    const { port, url } = await listenWith(app);
    const first = connect(port, '127.0.0.1');
    await once(first, 'connect');
    const second = connect(port, '127.0.0.1');
    second.on('error', () => undefined).resume();
    await once(second, 'close');
    expect(await refusedFor(app, 'connections')).toBe(1);

    first.destroy();
    await eventually(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200));
  });

  it('has an end for each of its parts in the server itself', async () => {
    const { http } = await listenWith(appWith({ requestTimeoutSeconds: 70, maxConnections: 9 }));
    const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = http;

    expect({ headersTimeout, requestTimeout, keepAliveTimeout, maxConnections }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 70_000,
      keepAliveTimeout: 65_000,
      maxConnections: 9,
    });
  });
});
