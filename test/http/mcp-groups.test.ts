import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../src/mcp/tools/tools.ts';
import { toolGroups } from '../../src/config/tool-groups.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { cliArguments, cliEnvironment, runCli } from '../support/cli-process.ts';
import { testConfig } from '../support/config.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { createServerHome } from '../support/server-process.ts';

const namesOf = (...groups: string[]): string[] =>
  tools.filter(({ group }) => groups.includes(group)).map(({ name }) => name);

let all: TestApp;
let limited: TestApp;

beforeAll(async () => {
  const config = testConfig();
  all = await createTestApp(config);
  limited = await createTestApp({ ...config, mcp: { ...config.mcp, toolGroups: ['store', 'read'] } });
});
afterAll(async () => {
  await all.close();
  await limited.close();
});

async function listNames({ app }: TestApp, path: string): Promise<string[]> {
  const client = await connectMcp(app, path);
  const { tools: listed } = await client.listTools();
  await client.close();
  return listed.map(({ name }) => name);
}

describe('the groups of tools', () => {
  it('are all served unless someone chooses', async () => {
    expect(await listNames(all, '/mcp')).toEqual(namesOf(...toolGroups));
  });

  it.each([
    ['one', 'store', ['store']],
    ['several', 'read,manage', ['read', 'manage']],
    ['several with blanks and twice', 'read,%20manage,read', ['read', 'manage']],
  ])('are chosen by a connection: %s', async (_, given, expected) => {
    expect(await listNames(all, `/mcp?groups=${given}`)).toEqual(namesOf(...expected));
  });

  it('are limited by the configuration, and a connection chooses among those', async () => {
    expect(await listNames(limited, '/mcp')).toEqual(namesOf('store', 'read'));
    expect(await listNames(limited, '/mcp?groups=read')).toEqual(namesOf('read'));
    await expect(listNames(limited, '/mcp?groups=manage')).rejects.toThrow('one or several of store, read, with');
  });

  it('leave no way to call a tool of another', async () => {
    const client = await connectMcp(all.app, '/mcp?groups=read');

    await expect(client.call('memory_store_rule', { content: 'Knock first' })).rejects.toThrow(
      `tool must be one of ${namesOf('read').join(', ')} (got "memory_store_rule")`,
    );
    await client.close();
  });

  it.each(['write', '', 'store,', 'STORE', '__proto__'])('do not have %j among them', async (given) => {
    const response = await all.app.fetch(new Request(`http://localhost/mcp?groups=${given}`, { method: 'POST' }));

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      error: {
        code: -32602,
        message: expect.stringContaining(`groups must be one or several of ${toolGroups.join(', ')}`) as string,
      },
    });
  });
});

describe('butler-memory mcp --groups', () => {
  it('serves the tools of these groups', async () => {
    const home = await createServerHome();
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...cliArguments, 'mcp', '--groups', 'store,read'],
        env: cliEnvironment(home.env),
        cwd: home.directory,
        stderr: 'ignore',
      }),
    );
    const { tools: listed } = await client.listTools();
    await client.close();
    await home.remove();

    expect(listed.map(({ name }) => name)).toEqual(namesOf('store', 'read'));
  });

  it('ends with one clear line when there is no such group', async () => {
    const { code, stdout, stderr } = await runCli(['mcp', '--groups', 'store,write']);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `butler-memory: groups must be one or several of ${toolGroups.join(', ')}, with commas between them (got "write")\n`,
    );
  });
});
