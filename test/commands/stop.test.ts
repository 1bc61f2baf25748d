import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createClient } from 'graphql-ws';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { requestGraphQL } from '../support/graphql-request.ts';
import { beginRequest } from '../support/raw-request.ts';
import {
  createServerHome,
  startServerProcess,
  type LogLine,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

let home: ServerHome;
let server: ServerProcess;

beforeEach(async () => {
  home = await createServerHome();
});
afterEach(async () => {
  await server.kill9();
  await home.remove();
});

/** Long enough that a stop which waits for it fails by the timeout of its test. */
const endlessGraceSeconds = 600;

async function start(graceSeconds = endlessGraceSeconds): Promise<void> {
  await writeFile(join(home.directory, 'butler.toml'), `[butler]\nshutdown_grace_seconds = ${graceSeconds}\n`);
  server = await startServerProcess({ home });
}

const storeBody = JSON.stringify({
  query:
    'mutation { storeEpisode(input: { content: "User waits", butler: "b" }) { ... on StoreEpisodePayload { episode { uuid } } } }',
});

async function finishRequest(begun: ClientRequest): Promise<string> {
  begun.end(storeBody);
  const [response] = (await once(begun, 'response')) as [IncomingMessage];
  const { data } = (await json(response)) as { data: { storeEpisode: { episode: { uuid: string } } } };
  return data.storeEpisode.episode.uuid;
}

/** But for the one line of every start without authentication, which is no trouble of the stop. */
const troubles = (lines: LogLine[]): LogLine[] =>
  lines.filter(
    ({ level, msg }) => !['info', 'debug'].includes(level) && !msg.startsWith('no authentication is configured'),
  );

describe('a server that is told to stop', () => {
  it('answers the request under way, exits 0, and the next server has what it stored', async () => {
    await start();
    await server.logged('ready');
    const begun = await beginRequest(`${server.url}/graphql`, storeBody);
    server.signal('SIGTERM');
    await server.logged('stopping');
    const id = await finishRequest(begun);

    expect(await server.ended).toBe(0);
    expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped' });
    expect(troubles(server.logs())).toEqual([]);
    expect(server.errors()).toBe('');

    await start();
    const { data } = await requestGraphQL(fetch, server.url, `{ episode(id: "${id}") { content } }`);
    expect(data).toEqual({ episode: { content: 'User waits' } });
  });

  it('takes no new connection meanwhile', async () => {
    await start();
    const begun = await beginRequest(`${server.url}/graphql`, storeBody);
    server.signal('SIGTERM');
    await server.logged('stopping');

    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow('fetch failed');
    await finishRequest(begun);
    expect(await server.ended).toBe(0);
  });

  it('stops at SIGINT as it does at SIGTERM', async () => {
    await start();
    await server.logged('ready');

    expect(await server.stop('SIGINT')).toBe(0);
    expect(troubles(server.logs())).toEqual([]);
  });

  it('stops cleanly even if it has only begun to start', async () => {
    await start();

    expect(await server.stop()).toBe(0);
    expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped' });
    expect(troubles(server.logs())).toEqual([]);
    expect(server.errors()).toBe('');
  });

  it('does not wait for feeds, which have no end', async () => {
    await start();
    const query = 'subscription { health { status } }';
    const events = await fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`, {
      headers: { accept: 'text/event-stream' },
    });
    const client = createClient({
      url: `${server.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const feed = client.iterate({ query });
    await feed.next();
    const ended = Promise.allSettled([feed.next(), events.text()]);

    expect([await server.stop(), server.errors()]).toEqual([0, '']);
    await ended;
  });

  it('gives a client that will not go the configured time and no more', async () => {
    await start(1);
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    // It never reads, so it never sees that it is asked to go.
    socket.pause();
    const begun = await beginRequest(`${server.url}/graphql`, storeBody);
    begun.on('error', () => undefined);

    expect(await server.stop()).toBe(0);
    socket.terminate();
  });

  it('ends at once at a second signal', async () => {
    await start();
    const begun = await beginRequest(`${server.url}/graphql`, storeBody);
    begun.on('error', () => undefined);
    server.signal('SIGTERM');
    await server.logged('stopping');

    expect(await server.stop('SIGINT')).toBe('SIGINT');
  });
});
