import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createApp, type App } from '../../src/http/app.ts';
import { serveRequests, serveSubscriptions } from '../../src/http/server.ts';
import { contextOf, writeEvent } from '../support/activity.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let testApp: TestApp;
let app: App;
let http: Server;
let port: number;

/** The server's own parts on a port, in this process, where it can be seen who follows. */
beforeEach(async () => {
  testApp = await createTestApp();
  app = createApp(testApp.core, { standstillLimitMs: 300 });
  ({ http } = serveRequests(app));
  serveSubscriptions(http, app, testApp.core);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  ({ port } = http.address() as AddressInfo);
});
afterEach(async () => {
  http.closeAllConnections();
  http.close();
  await app.stop();
  await testApp.close();
});

const query = 'subscription ServerHangUp($after: String) { activity(after: $after) { uuid before after } }';

/** A client of few words: it asks for the feed and reads only when it is told to. */
async function openStream(after?: string): Promise<Socket> {
  const body = JSON.stringify({ query, variables: { after } });
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await untilFollowers((count) => count > 0);
  return socket;
}

async function openSocket(after?: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  socket.pause();
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { after } } }));
  await untilFollowers((count) => count > 0);
  return socket;
}

async function untilFollowers(isExpected: (count: number) => boolean): Promise<void> {
  const { activity } = app.createContext();
  while (!isExpected(activity.followerCount())) await new Promise((resolve) => setImmediate(resolve));
}

/** More than the buffers of a connection hold. Gives the id of an event before them. */
async function writeMuch(): Promise<string> {
  const context = contextOf(testApp);
  const first = await writeEvent(context);
  const note = 'x'.repeat(400_000);
  for (let index = 0; index < 60; index++) await writeEvent(context, { before: { note }, after: { note } });
  return first;
}

/** What the client had not read yet, up to the end of the feed or of the connection. */
async function readRest(socket: Socket, end: RegExp): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').resume();
  for await (const chunk of socket) {
    text = (text + String(chunk)).slice(-20_000);
    if (end.test(text)) break;
  }
  return text;
}

describe('a client of the activity feed', () => {
  it.each([
    ['server-sent events', async () => (await openStream()).destroy()],
    ['graphql-ws', async () => (await openSocket()).terminate()],
  ])('over %s that is gone leaves nothing behind', async (_, comeAndGo) => {
    await comeAndGo();

    await untilFollowers((count) => count === 0);
    await writeEvent(contextOf(testApp));
    expect(app.createContext().activity.followerCount()).toBe(0);
  });

  it('over server-sent events that reads nothing is dropped, and finds out why when it reads again', async () => {
    const socket = await openStream(await writeMuch());
    await untilFollowers((count) => count === 0);
    const rest = await readRest(socket, /event: complete/);
    socket.destroy();

    expect(rest).toContain('may wait at most 0.3 seconds');
    expect(rest).toContain('LIMIT_EXCEEDED');
  });

  it('over graphql-ws that reads nothing is dropped, and finds out why when it reads again', async () => {
    const socket = await openSocket(await writeMuch());
    await untilFollowers((count) => count === 0);
    const answered = new Promise<string>((resolve) =>
      socket.on('message', (data: Buffer) => {
        const text = data.toString('utf8');
        if (text.includes('LIMIT_EXCEEDED')) resolve(text);
      }),
    );
    socket.resume();

    expect(await answered).toContain('may wait at most 0.3 seconds');
    socket.terminate();
  });

  it('that stands still does not hold up the others', async () => {
    const first = await writeMuch();
    const quick = await openSocket();
    const slow = await openStream(first);
    const told = new Promise<string>((resolve) =>
      quick.on('message', (data: Buffer) => resolve(data.toString('utf8'))),
    );
    quick.resume();
    const id = await writeEvent(contextOf(testApp));

    expect(await told).toContain(id);
    slow.destroy();
    quick.terminate();
  });
});
