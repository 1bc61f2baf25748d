import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { postToGraphQL } from '../support/graphql-request.ts';
import { expectNoInternals } from '../support/internals.ts';
import {
  createServerHome,
  startServerProcess,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

/** A server whose database lost a table, so that every write meets an error that nobody foresaw. */
let home: ServerHome;
let server: ServerProcess;

beforeAll(async () => {
  home = await createServerHome();
  await home.query('DROP TABLE memory_events CASCADE');
  server = await startServerProcess({ home });
});
afterAll(async () => {
  await server.stop();
  await home.remove();
});

const masked = /^unexpected error; the log has it under ([\w-]+)$/;
const store = 'mutation { storeEpisode(input: { content: "a", butler: "b" }) { __typename } }';

/** The line that the operator finds under the id that the caller got. */
async function expectLogged(errorId: string | undefined): Promise<void> {
  const line = await server.logged((candidate) => candidate['errorId'] === errorId);
  expect(line).toMatchObject({ level: 'error', msg: 'unexpected error' });
  expect(JSON.stringify(line['err'])).toContain('memory_events');
}

describe('an error that nobody foresaw', () => {
  it('is masked over GraphQL, and the log has it under the id of the request', async () => {
    const body = JSON.stringify({ query: store });
    const { text, errors } = await postToGraphQL(fetch, server.url, body, { 'x-request-id': 'unforeseen-1' });

    expect(errors?.[0]).toMatchObject({ extensions: { code: 'INTERNAL' }, path: ['storeEpisode'] });
    expect(errors?.[0]?.message).toBe('unexpected error; the log has it under unforeseen-1');
    expectNoInternals(text);
    await expectLogged('unforeseen-1');
  });

  it('is masked over graphql-ws', async () => {
    const url = `${server.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    const { value } = await client.iterate({ query: store }).next();
    await client.dispose();
    const { errors } = value as { errors: { message: string; extensions: object }[] };

    expect(errors[0]?.extensions).toEqual({ code: 'INTERNAL' });
    expectNoInternals(JSON.stringify(value));
    await expectLogged(masked.exec(errors[0]?.message ?? '')?.[1]);
  });

  it('is masked over MCP', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
    const answer = await client.callTool({
      name: 'memory_store_episode',
      arguments: { content: 'a', butler: 'b' },
    });
    await client.close();
    const [{ text }] = answer.content as [{ text: string }];

    expect(answer.isError).toBe(true);
    expect(text).toMatch(/^INTERNAL: /);
    expectNoInternals(text);
    await expectLogged(masked.exec(text.replace('INTERNAL: ', ''))?.[1]);
  });

  it('leaves nothing half-written, and nothing on standard error', async () => {
    await server.stop();

    expect(server.errors()).toBe('');
    expect(await home.query('SELECT count(*)::int AS episodes FROM episodes')).toEqual([{ episodes: 0 }]);
  });
});
