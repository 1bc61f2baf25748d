import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { cliArguments, cliEnvironment } from '../support/cli-process.ts';
import { createServerHome, startServerProcess, type ServerHome } from '../support/server-process.ts';
import { callEveryTool } from './every-tool.ts';

let home: ServerHome;

beforeAll(async () => {
  home = await createServerHome();
});
afterAll(() => home.remove());

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'every-tool', version: '1' });
  await client.connect(transport);
  return client;
}

describe('every tool', () => {
  it('is listed and answers as its schema says, over HTTP', async () => {
    const server = await startServerProcess({ home });
    const client = await connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
    try {
      await callEveryTool(client);
    } finally {
      await client.close();
      await server.stop();
    }
  });

  it('is listed and answers as its schema says, over stdio', async () => {
    const client = await connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...cliArguments, 'mcp'],
        env: cliEnvironment(home.env),
        cwd: home.directory,
        stderr: 'ignore',
      }),
    );
    try {
      await callEveryTool(client);
    } finally {
      await client.close();
    }
  });
});
