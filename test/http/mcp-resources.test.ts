import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { connectMcp, type TestClient } from '../support/mcp-client.ts';

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

async function read(uri: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents as { uri: string; mimeType: string; text: string }[];
  expect(contents).toHaveLength(1);
  expect(content).toMatchObject({ uri, mimeType: 'application/json' });
  return JSON.parse(content?.text ?? '');
}

interface WriteAnswer {
  redacted: number;
  cut: unknown[];
  confirmed?: boolean;
  outcome: string;
  superseded?: unknown;
  kept_until: string | null;
  event_id: string | null;
  similar?: unknown[];
  superseded_by?: unknown;
  also_superseded?: unknown[];
  is_upcoming?: boolean;
}

const stores = {
  episode: ['memory_store_episode', { content: 'User fed the cat', butler: 'general' }],
  fact: ['memory_store_fact', { subject: 'user', predicate: 'pet', content: 'User has a cat' }],
  rule: ['memory_store_rule', { content: 'Ask after the cat' }],
} as const;

describe('the resources of /mcp', () => {
  it('are templates with a description, one for each type of memory', async () => {
    const { resourceTemplates } = await client.listResourceTemplates();

    expect((await client.listResources()).resources).toMatchObject([{ uri: 'memory://stats', name: 'stats' }]);
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'memory://episode/{id}',
      'memory://fact/{id}',
      'memory://rule/{id}',
    ]);
    for (const { description } of resourceTemplates) expect(description).toMatch(/\w/);
  });

  it.each(Object.entries(stores))('hold a %s as its tool tells it', async (type, [tool, given]) => {
    const stored = await client.call(tool, given);

    // What a write did is told with it, and is no part of the memory.
    const { redacted: _redacted, cut: _cut, confirmed: _confirmed, ...told } = stored.structuredContent as WriteAnswer;
    const { outcome: _outcome, superseded: _superseded, kept_until: _keptUntil, ...rest } = told;
    const { event_id: _eventId, similar: _similar, superseded_by: _by, also_superseded: _others, ...fact } = rest;
    const { is_upcoming: _isUpcoming, ...memory } = fact;
    expect(await read(`memory://${type}/${stored.id}`)).toEqual(memory);
  });

  it('that are listed can be read', async () => {
    const { resources } = await client.listResources();

    for (const { uri } of resources) expect(await read(uri)).toEqual(expect.any(Object));
  });

  it.each([
    'memory://episode/00000000-0000-4000-8000-000000000000',
    'memory://link/00000000-0000-4000-8000-000000000000',
    'memory://constructor/00000000-0000-4000-8000-000000000000',
    'memory://episode',
    'memory://',
    'file:///etc/passwd',
    '',
  ])('do not hold %j', async (uri) => {
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32002,
      message: expect.stringContaining(`(got ${JSON.stringify(uri)})`) as string,
      data: { uri },
    });
  });

  it('are told apart from a UUID that is none', async () => {
    await expect(client.readResource({ uri: 'memory://fact/first' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('id must be a UUID or a handle such as "ab123cd" (got "first")') as string,
    });
  });
});
