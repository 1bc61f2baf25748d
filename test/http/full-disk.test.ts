import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { packageRoot } from '../../src/shared/package-root.ts';
import { runCli, spawnCli } from '../support/cli-process.ts';
import { testEngine } from '../support/database.ts';
import { expectNoInternals } from '../support/internals.ts';
import {
  createServerHome,
  startServerProcess,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

const preload = pathToFileURL(join(packageRoot, 'test', 'support', 'full-disk.mjs')).href;

describe.runIf(testEngine === 'pglite')('a full disk under the embedded database', () => {
  let home: ServerHome;
  let server: ServerProcess;
  let flag: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    home = await createServerHome();
    flag = join(home.directory, 'full');
    env = { NODE_OPTIONS: `--import ${preload}`, FULL_DISK_FLAG: flag };
    server = await startServerProcess({ home, env });
    await server.logged('ready');
  });
  afterAll(async () => {
    await rm(flag, { force: true });
    await server.kill9();
    await home.remove();
  });
  beforeEach(() => rm(flag, { force: true }));

  const content = 'tea '.repeat(4000);
  const store =
    'mutation ($content: String!) { storeEpisode(input: { content: $content, butler: "b" }) { __typename } }';
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.text();
  };
  const call = { name: 'memory_store_episode', arguments: { content, butler: 'b' } };
  const callers: [string, () => Promise<string>][] = [
    ['GraphQL', () => post('/graphql', { query: store, variables: { content } })],
    ['MCP', () => post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })],
    [
      'graphql-ws',
      async () => {
        const url = `${server.url.replace('http', 'ws')}/graphql`;
        const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
        const { value } = await client.iterate({ query: store, variables: { content } }).next();
        await client.dispose();
        return JSON.stringify(value);
      },
    ],
  ];

  it.each(callers)('is told as such over %s, without a path, and writes go on when there is space', async (_, ask) => {
    await writeFile(flag, '');
    // The first pages may still be written where the files have room.
    const refused: string[] = [];
    while (refused.length < 3) {
      const answer = await ask();
      if (answer.includes('STORAGE_FULL') || !answer.includes('StoreEpisodePayload')) refused.push(answer);
    }
    for (const answer of refused) {
      expect(answer).toContain('STORAGE_FULL');
      expect(answer).toContain('the disk of the database is full');
      expect(answer).not.toContain(home.directory);
      expectNoInternals(answer);
    }
    await rm(flag);
    await expect.poll(ask, { timeout: 60_000 }).not.toContain('STORAGE_FULL');
    expect(await ask()).not.toContain('"isError":true');
  });

  it('is told as such over standard input and output, and by the command line', async () => {
    await server.stop();
    const child = spawnCli(['mcp'], { env: { ...home.env, ...env }, workingDirectory: home.directory });
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (message: object): Promise<string> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      return String((await answers.next()).value);
    };
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    await ask({ id: 0, method: 'initialize', params });
    await writeFile(flag, '');
    let answer = '';
    for (let id = 1; !answer.includes('isError'); id++) answer = await ask({ id, method: 'tools/call', params: call });
    expect(answer).toContain('STORAGE_FULL: the disk of the database is full');
    expectNoInternals(answer);
    child.kill('SIGKILL');
    await once(child, 'close');

    const options = { env: { ...home.env, ...env }, workingDirectory: home.directory };
    const { code, stderr } = await runCli(['token', 'create', '--role', 'operator'], options);
    expect(code).toBe(1);
    expect(stderr).toContain('butler-memory: the disk of the database is full (');
    expect(stderr).not.toContain(home.directory);
    expect(stderr).not.toMatch(/\n +at /);
  });
});
