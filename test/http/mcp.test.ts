import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageManifest } from '../../src/shared/package-root.ts';
import { handleOf } from '../../src/shared/handles.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { expectNoInternals } from '../support/internals.ts';
import { connectMcp, type Called, type TestClient } from '../support/mcp-client.ts';

let testApp: TestApp;
let client: TestClient;

beforeAll(async () => {
  testApp = await createTestApp();
  client = await connectMcp(testApp.app);
});
afterAll(async () => {
  await client.close();
  await testApp.close();
});

const call = (name: string, given?: Record<string, unknown>): Promise<Called> => client.call(name, given);

describe('a client of /mcp', () => {
  it('learns who serves it and what for', () => {
    const { butler } = testApp.core.config;

    expect(client.getServerVersion()).toMatchObject({
      name: `butler-memory (${butler.name})`,
      version: packageManifest.version,
    });
    expect(client.getInstructions()).toBe(butler.description);
  });

  it('lists the tools with a description of each and of every argument', async () => {
    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name)).toContain('memory_store_episode');
    for (const { name, title, description, inputSchema } of tools) {
      expect({ name, title, description }).toEqual({
        name,
        title: expect.stringMatching(/\w/) as string,
        description: expect.stringMatching(/\w/) as string,
      });
      for (const property of Object.values(inputSchema.properties ?? {})) {
        expect(property).toMatchObject({ description: expect.stringMatching(/\w/) as string });
      }
    }
  });

  it('stores an episode and gets it back, as text and as data', async () => {
    const stored = await call('memory_store_episode', { content: 'User likes jasmine tea', butler: 'general' });
    const { id } = stored.structuredContent as { id: string };
    const found = await call('memory_get', { type: 'episode', id });

    expect(stored).toMatchObject({
      isError: false,
      text: expect.stringContaining(
        `Stored episode ${handleOf(id)}: User likes jasmine tea\nKept until 8 March 2026.\n`,
      ),
    });
    expect(found.text).toBe(`episode ${handleOf(id)}: User likes jasmine tea`);
    expect(stored.structuredContent).toEqual({
      ...(found.structuredContent as object),
      outcome: 'stored',
      kept_until: '2026-03-08T12:00:00.000Z',
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      redacted: 0,
      cut: [],
    });
  });

  it('may send a list, an object and a number as text', async () => {
    const { structuredContent } = await call('memory_store_episode', {
      content: 'User counts sheep',
      butler: 'general',
      tags: '["night", "sheep"]',
      metadata: '{"count": {"sheep": 3}}',
      importance: '7',
    });

    expect(structuredContent).toMatchObject({
      tags: ['night', 'sheep'],
      metadata: { count: { sheep: 3 } },
      importance: 7,
    });
  });

  it('may name a day where a moment is asked for', async () => {
    const { structuredContent } = await client.call('memory_store_fact', {
      subject: 'user',
      predicate: 'retires_in',
      content: 'Lisbon',
      observed_at: '2026-03-01',
      valid_from: '2029-01-01',
    });
    expect(structuredContent).toMatchObject({
      observed_at: '2026-03-01T00:00:00.000Z',
      valid_from: '2029-01-01T00:00:00.000Z',
    });
  });

  it.each<[string, string, Record<string, unknown>, RegExp]>([
    [
      'text where a list belongs',
      'memory_store_episode',
      { content: 'a', butler: 'b', tags: 'night, sheep' },
      /^INVALID_INPUT: tags must be a list \(got "night, sheep"\)\nSend tags as a list, such as \["text"\]\.$/,
    ],
    [
      'the text of a list where an object belongs',
      'memory_store_episode',
      { content: 'a', butler: 'b', metadata: '[1]' },
      /^INVALID_INPUT: metadata must be an object \(got "\[1\]"\)\nSend metadata as an object, such as \{"key":"value"\}\.$/,
    ],
    [
      'a number that is not one',
      'memory_store_episode',
      { content: 'a', butler: 'b', importance: 'NaN' },
      /^INVALID_INPUT: importance must be a number \(got "NaN"\)$/,
    ],
    [
      'a blank text',
      'memory_store_episode',
      { content: ' ', butler: 'b' },
      /^INVALID_INPUT: content must be text that is not/,
    ],
    [
      'a missing argument',
      'memory_store_episode',
      { butler: 'b' },
      /^INVALID_INPUT: content must be text \(got nothing\)\nRequired: content\.$/,
    ],
    [
      'a value that there is not',
      'memory_store_fact',
      { subject: 'a', predicate: 'b', content: 'c', permanence: 'foo' },
      /^INVALID_INPUT: permanence must be one of ephemeral, permanent, stable, standard, volatile \(got "foo"\)$/,
    ],
    [
      'a number where text belongs',
      'memory_store_rule',
      { content: 5 },
      /^INVALID_INPUT: content must be text \(got 5\)$/,
    ],
    [
      'a list of other things than text',
      'memory_store_rule',
      { content: 'a', tags: '[1]' },
      /^INVALID_INPUT: tags\[0\] must be text \(got 1\)$/,
    ],
    [
      'nothing where text belongs',
      'memory_store_rule',
      { content: null },
      /^INVALID_INPUT: content must be text \(got null\)$/,
    ],
    [
      'a time in words',
      'memory_store_episode',
      { content: 'a', butler: 'b', observed_at: 'yesterday' },
      /^INVALID_INPUT: observed_at must be a day or time of the years 1901 to 9999 in ISO 8601, such as "2026-.*got "yesterday"\)$/,
    ],
    [
      'a year that never comes',
      'memory_store_episode',
      { content: 'a', butler: 'b', observed_at: '+275760-09-13T00:00:00.000Z' },
      /^INVALID_INPUT: observed_at must be a day or time of the years 1901 to 9999 .*got "\+275760-09-13T00:00:00.000Z"\)$/,
    ],
    [
      'one of several contexts',
      'memory_context_batch',
      {
        requests: [
          { trigger_prompt: 'a', butler: 'b' },
          { trigger_prompt: ' ', butler: 'b' },
        ],
      },
      /^INVALID_INPUT: requests\[1\]\.trigger_prompt must be text that is not blank \(got " "\)$/,
    ],
    [
      'one of several contexts that lacks something',
      'memory_context_batch',
      { requests: [{ trigger_prompt: 'a', butler: 'b' }, { butler: 'b' }] },
      /^INVALID_INPUT: requests\[1\]\.trigger_prompt must be text \(got nothing\)\nRequired: butler, trigger_prompt\.$/,
    ],
    [
      'one of several episodes',
      'memory_ingest_batch',
      {
        episodes: [
          { content: 'a', butler: 'b' },
          { content: 'a', butler: 'b', importance: 11 },
        ],
      },
      /^INVALID_INPUT: episodes\[1\]\.importance must be a number from 1 to 10 \(got 11\)$/,
    ],
    [
      'one of several ids',
      'memory_consolidation_requeue',
      { ids: ['00000000-0000-4000-8000-000000000000', 'first'] },
      /^INVALID_INPUT: ids\[1\] must be a UUID or a handle such as "ab123cd" \(got "first"\)$/,
    ],
    [
      'a place to go on from',
      'memory_activity_stream',
      { since: 'lately' },
      /^INVALID_INPUT: since must be a time in ISO 8601, the UUID or global id of an event, or what .* resume from \(got "lately"\)$/,
    ],
    [
      'half an answer wanted',
      'memory_recall',
      { topic: 'a', limit: 1.5 },
      /^INVALID_INPUT: limit must be a whole number of at most 32 bits \(got 1.5\)$/,
    ],
    [
      'an argument of another type',
      'memory_store_episode',
      { content: 'a', butler: 'b', importance: 'high' },
      /^INVALID_INPUT: importance must be a number \(got "high"\)$/,
    ],
    [
      'an unknown argument',
      'memory_store_episode',
      { content: 'a', butler: 'b', sessionId: 'x' },
      /argument must be one of butler, content, idempotency_key, .*, session_id, tags \(got "sessionId"/,
    ],
    ['an argument where there are none', 'memory_health', { verbose: true }, /argument must be none.*got "verbose"/],
    [
      'an id that is no UUID',
      'memory_get',
      { type: 'fact', id: 'first' },
      /^INVALID_INPUT: id must be a UUID or a handle such as "ab123cd" \(got "first"/,
    ],
    [
      'an id of nothing',
      'memory_get',
      { type: 'episode', id: '00000000-0000-4000-8000-000000000000' },
      /^NOT_FOUND: nothing is there with type "episode", id "00000000-0000-4000-8000-000000000000"$/,
    ],
  ])('is told what is wrong with %s', async (_, tool, given, message) => {
    const { isError, text } = await call(tool, given);

    expect(isError).toBe(true);
    expect(text).toMatch(message);
    expectNoInternals(text);
  });

  it.each(['memory_forget_everything', '__proto__', 'constructor'])('is refused the unknown tool %s', async (name) => {
    await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`got "${name}"`) as string,
    });
  });
});

const ask = async (method: string, params: unknown): Promise<unknown> => {
  const response = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return response.json();
};

describe('a request whose parameters have the wrong form', () => {
  it.each<[string, string, unknown, string]>([
    [
      'arguments as text',
      'tools/call',
      { name: 'memory_health', arguments: '{}' },
      'params.arguments must be an object (got "{}")',
    ],
    [
      'arguments as a list',
      'tools/call',
      { name: 'memory_health', arguments: [1] },
      'params.arguments must be an object (got [1])',
    ],
    ['no parameters of the handshake', 'initialize', undefined, 'params must be an object (got nothing)'],
    [
      'a handshake of no version',
      'initialize',
      { capabilities: {} },
      'params.protocolVersion must be text (got nothing)',
    ],
    [
      'a handshake of no client',
      'initialize',
      { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: 5 },
      'params.clientInfo must be an object (got 5)',
    ],
    ['no tool', 'tools/call', { arguments: {} }, 'params.name must be text (got nothing)'],
    ['no parameters', 'tools/call', undefined, 'params must be an object (got nothing)'],
    ['a resource that is a number', 'resources/read', { uri: 5 }, 'params.uri must be text (got 5)'],
    [
      'a prompt whose arguments are no text',
      'prompts/get',
      { name: 'consolidate', arguments: { butler: 5 } },
      'params.arguments.butler must be text (got 5)',
    ],
    ['a cursor that is a number', 'tools/list', { cursor: 5 }, 'params.cursor must be text (got 5)'],
  ])('is refused in one sentence: %s', async (_, method, params, message) => {
    expect(await ask(method, params)).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32602, message } });
  });

  it('may have none where none are needed', async () => {
    expect(await ask('tools/list', undefined)).toMatchObject({ result: { tools: expect.any(Array) as unknown } });
  });
});

const post = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  testApp.app.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    }),
  );
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const store = { name: 'memory_store_episode', arguments: { content: 'a', butler: 'b' } };
const asMessage = (message: unknown): string => JSON.stringify(message);

describe('whoever abuses /mcp', () => {
  it.each<[string, number, string, Record<string, string>]>([
    ['broken JSON', 400, '{nope', {}],
    ['no body', 400, '', {}],
    ['null', 400, 'null', {}],
    ['a number', 400, '5', {}],
    ['a message of another protocol', 400, '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', {}],
    ['brackets without end', 400, '['.repeat(50_000), {}],
    ['a list nested 50 000 deep', 400, '['.repeat(50_000) + ']'.repeat(50_000), {}],
    ['an empty batch', 400, '[]', {}],
    ['a batch', 400, asMessage([list, { ...list, id: 2 }]), {}],
    [
      'a batch that cancels itself',
      400,
      asMessage([
        { ...list, method: 'tools/call', params: store },
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      ]),
      {},
    ],
    ['another content type', 415, asMessage(list), { 'content-type': 'text/plain' }],
    ['no wish for an answer that we give', 406, asMessage(list), { accept: 'text/html' }],
    ['a version of the protocol that there never was', 400, asMessage(list), { 'mcp-protocol-version': '1999-01-01' }],
    ['a body of 5 MB', 413, asMessage({ ...list, padding: 'x'.repeat(5_000_000) }), {}],
    ['an announcement of 5 MB', 413, '{}', { 'content-length': '5000000' }],
  ])('with %s gets %i', async (_, status, body, headers) => {
    const response = await post(body, headers);
    const text = await response.text();

    expect(response.status).toBe(status);
    expect(JSON.parse(text)).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { message: expect.any(String) as string },
    });
    expectNoInternals(text);
  });

  it.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('with %s gets 405 and learns what is allowed', async (method) => {
    const response = await testApp.app.fetch(
      new Request('http://localhost/mcp', { method, headers: { accept: 'text/event-stream' } }),
    );

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it.each<[string, unknown, RegExp]>([
    ['an unknown method', { ...list, method: 'memory/wipe' }, /Method not found/],
    ['a call of nothing', { ...list, method: 'tools/call' }, /^params must be an object \(got nothing\)$/],
    [
      'arguments that are a list',
      { ...list, method: 'tools/call', params: { ...store, arguments: [1] } },
      /^params\.arguments must be an object \(got \[1\]\)$/,
    ],
  ])('with %s gets an error of the protocol', async (_, message, expected) => {
    const response = await post(asMessage(message));
    const { error } = (await response.json()) as { error: { message: string } };

    expect(response.status).toBe(200);
    expect(error.message).toMatch(expected);
    expectNoInternals(error.message);
  });

  it('with metadata nested 50 000 deep gets a tool error', async () => {
    const nested = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const response = await post(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store_episode",` +
        `"arguments":{"content":"a","butler":"b","metadata":${nested}}}}`,
    );
    const { result } = (await response.json()) as { result: { isError: boolean; content: { text: string }[] } };

    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/metadata must be nested at most 32 levels deep|nested too deeply/);
  });
});
