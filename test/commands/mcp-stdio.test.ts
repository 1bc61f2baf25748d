import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cliArguments, cliEnvironment, spawnCli } from '../support/cli-process.ts';
import { createServerHome, type ServerHome } from '../support/server-process.ts';

let home: ServerHome;

beforeAll(async () => {
  home = await createServerHome();
});
afterAll(() => home.remove());

const hello = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const store = { name: 'memory_store_episode', arguments: { content: 'User hums', butler: 'b' } };

interface Session {
  code: number | null;
  /** Every line of standard output, each of which must be a message of the protocol. */
  messages: { id?: unknown; result?: { isError?: boolean; structuredContent?: unknown } }[];
  stderr: string;
}

/** Takes connections and says nothing, until it is told to hang up. */
async function silentServer(): Promise<{ port: number; hangUp: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hangUp: async () => {
      if (sockets.size === 0) await once(server, 'connection');
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Writes all lines at once, closes the pipe, and collects what comes until the process ends. */
async function converse(lines: readonly unknown[]): Promise<Session> {
  const child = spawnCli(['mcp'], { env: home.env, workingDirectory: home.directory });
  child.stdin.end(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const messages = stdout.split('\n').filter((line) => line !== '');
  return { code, stderr, messages: messages.map((line) => JSONRPCMessageSchema.parse(JSON.parse(line)) as never) };
}

describe('butler-memory mcp', () => {
  it('serves a real client: list, store, get', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...cliArguments, 'mcp'],
        env: cliEnvironment(home.env),
        cwd: home.directory,
        stderr: 'ignore',
      }),
    );
    const { tools } = await client.listTools();
    const stored = await client.callTool(store);
    const { id } = stored.structuredContent as { id: string };
    const found = await client.callTool({ name: 'memory_get', arguments: { type: 'episode', id } });
    await client.close();

    expect(tools.map(({ name }) => name)).toContain('memory_get');
    expect(stored.structuredContent).toMatchObject(found.structuredContent as object);
  });

  it('answers initialize and tools/list while its database is closed, and calls with why it cannot be opened', async () => {
    const database = await silentServer();
    const env = { ...home.env, DATABASE_URL: `postgres://someone@127.0.0.1:${database.port}/memory` };
    const child = spawnCli(['mcp'], { env, workingDirectory: home.directory });
    const messages = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (message: object): Promise<Session['messages'][number]> => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      const { value } = await messages.next();
      return JSON.parse(String(value)) as Session['messages'][number];
    };
    const stderr = text(child.stderr);

    expect(await ask(hello)).toMatchObject({ id: 0, result: { serverInfo: {} } });
    expect(await ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).toMatchObject({
      id: 1,
      result: { tools: expect.arrayContaining([expect.objectContaining({ name: 'memory_store_episode' })]) as object },
    });
    const answer = ask({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: store });
    // Until now nobody has answered: what was asked for did not need it.
    await database.hangUp();
    const reason = /database postgres:\/\/someone@127\.0\.0\.1:\d+\/memory cannot be reached/;
    const failed = { isError: true, content: [{ type: 'text', text: expect.stringMatching(reason) as string }] };
    expect(await answer).toMatchObject({ id: 2, result: failed });
    const later = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: store };
    expect(await ask(later)).toMatchObject({ id: 3, result: failed });

    child.stdin.end();
    expect(await once(child, 'close')).toEqual([1, null]);
    expect((await stderr).split('\n').filter((line) => line.startsWith('butler-memory: '))).toEqual([
      expect.stringMatching(reason),
    ]);
  });

  it('answers all that was asked before the pipe was closed, and then exits 0', async () => {
    const calls = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: store }));
    const { code, messages, stderr } = await converse([hello, initialized, ...calls]);

    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining([0, 1, 2, 3]));
    const answers = messages.filter(({ id }) => id !== 0);
    expect(answers.map(({ result }) => result?.structuredContent)).toEqual(
      calls.map(() => expect.objectContaining({ content: 'User hums' }) as object),
    );
    expect(code).toBe(0);
    // The log, which on standard output would break the protocol.
    for (const line of stderr.trimEnd().split('\n').filter(Boolean)) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('does not wait for the answer to a call that was cancelled', async () => {
    const { code } = await converse([
      hello,
      initialized,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: store },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    ]);

    expect(code).toBe(0);
  });

  it('survives lines that are no messages', async () => {
    const { code, messages } = await converse(['nonsense', '{}', '[]', hello]);

    expect(messages.map(({ id }) => id)).toEqual([0]);
    expect(code).toBe(0);
  });

  it('refuses a line of 60 MB in words, and serves those after it', async () => {
    const padding = 'x'.repeat(60 * 1024 * 1024);
    const huge = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: padding, arguments: {} } };
    const call = { jsonrpc: '2.0', id: 8, method: 'tools/call', params: store };
    const { code, messages, stderr } = await converse([hello, initialized, huge, call]);

    const message = 'line must be at most 4194304 bytes (got a longer one)';
    expect(messages.find(({ id }) => id === undefined)).toMatchObject({ error: { code: -32_600, message } });
    expect(messages.find(({ id }) => id === 8)?.result?.structuredContent).toMatchObject({ content: 'User hums' });
    expect(stderr).toContain(message);
    expect(code).toBe(0);
  });

  it('ends with code 0 when the pipe closes before anything was said', async () => {
    const { code, messages } = await converse([]);

    expect({ code, messages }).toEqual({ code: 0, messages: [] });
  });
});
