import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveRequests, serveSubscriptions } from '../../src/http/server.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { openEventStream, openSocketFeed, type FeedAnswer } from '../support/feeds.ts';

/** Operations over graphql-ws run through the same pipeline as those over HTTP. */

let testApp: TestApp;
let http: Server;
let url: string;
let log = '';

beforeAll(async () => {
  const base = testConfig();
  const config = { ...base, log: { level: 'warn' as const }, limits: { ...base.limits, requestTimeoutSeconds: 7 } };
  testApp = await createTestApp(config, createLogger(config, { write: (line) => void (log += line) }));
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
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  log = '';
});

async function ask(query: string): Promise<FeedAnswer> {
  const feed = openSocketFeed(url, query);
  const { value } = (await feed.next()) as { value: FeedAnswer };
  await feed.return?.();
  return value;
}

const store = (name: string): string =>
  `${name}: storeEpisode(input: { content: "${name}", butler: "slow" }) { __typename }`;

/** The request id of the log line about the error, which must be the id that the caller got. */
function expectLoggedUnder({ errors }: FeedAnswer): void {
  const errorId = /under ([\w-]+)$/.exec(errors?.[0]?.message ?? '')?.[1];
  const line = log.split('\n').find((one) => one.includes('unexpected error')) ?? '{}';
  expect(errorId).toBeDefined();
  expect(JSON.parse(line)).toMatchObject({ requestId: errorId, errorId });
}

describe('an operation over graphql-ws', () => {
  it('has a request id in its log lines', async () => {
    vi.spyOn(testApp.core.embedder, 'embed').mockRejectedValueOnce(new Error('a hole in the boat'));

    expectLoggedUnder(await ask(`mutation { ${store('first')} }`));
  });

  it.each(['graphql-ws', 'server-sent events'])(
    'has the request id of its feed over %s in later lines',
    async (door) => {
      const query = 'subscription { health { status } }';
      const feed =
        door === 'graphql-ws'
          ? openSocketFeed(url, query)
          : await openEventStream((request) => fetch(request), url, query);
      await feed.next();
      vi.spyOn(testApp.app.health, 'read').mockRejectedValue(new Error('a hole in the boat'));
      // A feed that cannot go on ends with an error over graphql-ws, and with an answer over server-sent events.
      const answer = await feed.next().then(
        ({ value }) => value as FeedAnswer,
        (errors: unknown) => ({ errors }) as FeedAnswer,
      );
      await feed.return?.();

      expectLoggedUnder(answer);
      expect(answer.errors?.[0]?.extensions).toEqual({ code: 'INTERNAL' });
    },
  );

  it('that takes too long is answered with TIMEOUT, and does nothing that it had not begun', async () => {
    const { core } = testApp;
    const embed = core.embedder.embed.bind(core.embedder);
    let release: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      vi.spyOn(core.embedder, 'embed').mockImplementationOnce(async (texts) => {
        const held = new Promise<void>((free) => (release = free));
        resolve();
        await held;
        return embed(texts);
      });
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const answer = ask(`mutation { ${store('one')} ${store('two')} }`);
    await reached;
    vi.advanceTimersByTime(7000);
    vi.useRealTimers();
    expect((await answer).errors?.[0]?.extensions).toMatchObject({ code: 'TIMEOUT' });
    release();
    const contents = async (): Promise<string[]> => {
      const { episode } = core.db.forTenant('default').client;
      return (await episode.findMany({ where: { butler: 'slow' } })).map(({ content }) => content);
    };
    await eventually(async () => expect(await contents()).toContain('one'));
    await ask(`mutation { ${store('three')} }`);

    expect(await contents()).not.toContain('two');
  });
});
