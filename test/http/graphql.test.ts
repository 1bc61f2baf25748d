import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { postToGraphQL, requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';
import { expectNoInternals } from '../support/internals.ts';
import { storeFact } from '../support/writes.ts';

let testApp: TestApp;

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const origin = 'http://localhost';
const query = <Data>(text: string, variables = {}): Promise<GraphQLAnswer<Data>> =>
  requestGraphQL((request) => testApp.app.fetch(request), origin, text, variables);
const get = (text: string): Promise<Response> =>
  testApp.app.fetch(new Request(`${origin}/graphql?query=${encodeURIComponent(text)}`));
const post = <Data>(body: string, headers = {}): Promise<GraphQLAnswer<Data>> =>
  postToGraphQL((request) => testApp.app.fetch(request), origin, body, headers);

interface Stored {
  storeEpisode: { episode: { uuid: string; id: string; metadata: unknown } };
}

const storeWithMetadata = `
  mutation ServerStoreWithMetadata($metadata: JSONObject) {
    storeEpisode(input: { content: "a", butler: "b", metadata: $metadata }) {
      ... on StoreEpisodePayload {
        episode {
          uuid
          id
          metadata
        }
      }
      ... on Problem {
        code
        message
      }
    }
  }
`;

describe('/graphql', () => {
  it('answers a query', async () => {
    const { status, data } = await query('{ health { status } }');

    expect(status).toBe(200);
    expect(data).toEqual({ health: { status: expect.any(String) as string } });
  });

  it('answers a query over GET, and no mutation', async () => {
    const mutation = await get('mutation { storeEpisode(input: { content: "a", butler: "b" }) { __typename } }');

    expect((await get('{ health { engine } }')).status).toBe(200);
    expect(mutation.status).toBe(405);
    expect(await mutation.text()).toContain('mutation');
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('refuses %s', async (method) => {
    const response = await testApp.app.fetch(new Request(`${origin}/graphql`, { method }));

    expect(response.status).toBe(405);
  });

  it('sends a subscription as server-sent events', async () => {
    const response = await testApp.app.fetch(
      new Request(`${origin}/graphql?query=${encodeURIComponent('subscription { health { status engine } }')}`, {
        headers: { accept: 'text/event-stream' },
      }),
    );
    expect(response.headers.get('content-type')).toContain('text/event-stream');

    const event = await readEvent(response);
    expect(JSON.parse(event)).toEqual({
      data: { health: { status: expect.any(String) as string, engine: testApp.core.db.engine } },
    });
  });
});

/** The data of the first event that has any. Ends the feed. */
async function readEvent(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let received = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    received += decoder.decode(chunk, { stream: true });
    const event = /^event: next\ndata: (.+)\n\n/m.exec(received);
    if (event?.[1] !== undefined) return event[1];
  }
  throw new Error(`no event came: ${received}`);
}

const page = async (app: TestApp['app']): Promise<Response> =>
  app.fetch(new Request(`${origin}/graphql`, { headers: { accept: 'text/html' } }));

describe('GraphiQL', () => {
  it('is served in development and loads nothing from another host', async () => {
    const response = await page(testApp.app);
    const html = await response.text();

    expect(response.headers.get('content-type')).toContain('text/html');
    expect(html).toContain('<title>Butler Memory</title>');
    const attributes = html.matchAll(
      /<(?:script|link|img|iframe|base|object|embed)\b[^>]*?(?:src|href)=["']?([^"' >]+)/gi,
    );
    const loads = html.matchAll(
      /(?:\bimport\(?|importScripts\(|Worker\(|fetch\(|url\()\s*["'`]?((?:https?:)?\/\/[^"'`)]+)/g,
    );
    const addresses = [...attributes, ...loads].map(([, address]) => address ?? '');
    expect(addresses.filter((address) => /^(https?:)?\/\//i.test(address))).toEqual([]);
  });

  it('is not served in production', async () => {
    const production = await createTestApp(testConfig({ NODE_ENV: 'production' }));
    const html = await (await page(production.app)).text();
    await production.close();

    expect(html).not.toMatch(/<html|<script/i);
  });
});

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const withMetadata = (json: string): string =>
  `{"query":${JSON.stringify(storeWithMetadata)},"variables":{"metadata":${json}}}`;
const asQuery = (text: string, variables = {}): string => JSON.stringify({ query: text, variables });
const repeat = (count: number, field: string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

const doublingFragments = `{ ...f0 } ${Array.from(
  { length: 40 },
  (_, index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`,
).join(' ')} fragment f40 on Query { health { status } }`;

describe('a caller of /graphql who is wrong', () => {
  it.each<[string, string, string, RegExp]>([
    ['broken JSON', '{nope', 'BAD_REQUEST', /invalid JSON/],
    ['no body', '', 'BAD_REQUEST', /invalid JSON/],
    ['null', 'null', 'BAD_REQUEST', /object/],
    ['no query', '{}', 'BAD_REQUEST', /query string/],
    ['a query that is a number', '{"query":5}', 'BAD_REQUEST', /"query".*number/],
    ['a batch', '[{"query":"{ health { status } }"}]', 'BAD_REQUEST', /Batching/],
    ['a syntax error', asQuery('{ health { '), 'BAD_REQUEST', /Syntax Error: Expected Name, found <EOF>/],
    ['an unknown field', asQuery('{ helth { status } }'), 'GRAPHQL_VALIDATION_FAILED', /"helth".*"health"/],
    ['an unknown operation', '{"query":"{ health { status } }","operationName":"x"}', 'BAD_REQUEST', /operation/],
    [
      'a variable of another type',
      asQuery('query ($id: String!) { receipt(id: $id) { uuid } }', { id: 5 }),
      'BAD_REQUEST',
      /Variable "\$id".*non string value: 5/,
    ],
    [
      'a field of an input of another type',
      asQuery('mutation ($input: StoreEpisodeInput!) { storeEpisode(input: $input) { __typename } }', {
        input: { content: 'a', butler: 'b', importance: 'high' },
      }),
      'BAD_REQUEST',
      /"input.importance"; Float cannot represent non numeric value: "high"/,
    ],
    [
      'a value that there is not',
      asQuery('mutation ($input: StoreFactInput!) { storeFact(input: $input) { __typename } }', {
        input: { subject: 'a', predicate: 'b', content: 'c', permanence: 'foo' },
      }),
      'INVALID_INPUT',
      /"input.permanence"; Permanence must be one of ephemeral, permanent, stable, standard, volatile \(got "foo"\)$/,
    ],
    [
      'a value in the document that there is not',
      asQuery('{ history(type: person, id: "a") { uuid } }'),
      'GRAPHQL_VALIDATION_FAILED',
      /^MemoryType must be one of episode, fact, rule \(got "person"\)$/,
    ],
    [
      'a date that never comes',
      asQuery('query ($at: DateTime!) { asOf(at: $at) { at } }', { at: '+275760-09-13T00:00:00.000Z' }),
      'INVALID_INPUT',
      /"\$at" got.*DateTime must be a day or time of the years 1901 to 9999 in ISO 8601, such as .*\(got "\+275760-/,
    ],
    [
      'an id that is no UUID',
      asQuery('query ($id: UUID!) { fact(id: $id) { id } }', { id: 'first' }),
      'INVALID_INPUT',
      /UUID must be a UUID \(got "first"\)$/,
    ],
    [
      'a difference whose end is before its beginning',
      asQuery('{ diff(from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z") { from } }'),
      'INVALID_INPUT',
      /^to must be not before from \(got "2026-01-01/,
    ],
    [
      'one of several searches',
      asQuery('{ searchBatch(inputs: [{ query: "a" }, { query: " " }]) { answers { candidates } } }'),
      'INVALID_INPUT',
      /^inputs\[1\]\.query must be text that is not blank \(got " "\)$/,
    ],
    [
      'one of several recalls',
      asQuery('{ recallBatch(inputs: [{ topic: "a" }, { topic: "a", limit: 0 }]) { answers { candidates } } }'),
      'INVALID_INPUT',
      /^inputs\[1\]\.limit must be .*\(got 0\)$/,
    ],
    ['metadata that is a list', withMetadata('[1]'), 'BAD_REQUEST', /non-object/],
    ['a document of too many words', asQuery(`{ ${repeat(2000, 'health { status }')} }`), 'BAD_REQUEST', /5000 tokens/],
    [
      'too many fields',
      asQuery(`{ ${repeat(30, `health { ${repeat(19, 'status')} }`)} }`),
      'BAD_REQUEST',
      /breadth: 600, max: 500/,
    ],
    [
      'a query of too much work',
      asQuery(`{ ${repeat(10, `health { ${repeat(10, 'checks { name status }')} }`)} }`),
      'BAD_REQUEST',
      /complexity: \d+, max: 2000/,
    ],
    [
      'statistics again and again',
      asQuery(`{ ${repeat(20, 'stats { at }')} }`),
      'BAD_REQUEST',
      /complexity: 2020, max: 2000/,
    ],
    [
      'totals again and again',
      asQuery(`{ ${repeat(5, `facts { ${repeat(20, 'totalCount')} }`)} }`),
      'BAD_REQUEST',
      /complexity: 2005, max: 2000/,
    ],
    ['245 aliases of statistics', asQuery(`{ ${repeat(245, 'stats { at }')} }`), 'BAD_REQUEST', /max: 2000/],
    ['fragments that double', asQuery(doublingFragments), 'BAD_REQUEST', /max: 500/],
    [
      'fragments that contain each other',
      asQuery('{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }'),
      'GRAPHQL_VALIDATION_FAILED',
      /within itself/,
    ],
    [
      'a node id of no known form',
      asQuery('{ node(id: "first") { id } }'),
      'INVALID_INPUT',
      /id must be .*got "first"/,
    ],
    ['a node id with no UUID', asQuery('{ node(id: "episode:first") { id } }'), 'INVALID_INPUT', /got "episode:first"/],
  ])('is told so with %s', async (_, body, code, message) => {
    const { status, text, errors } = await post(body);

    expect(status).toBeLessThan(500);
    expect(errors?.[0]).toMatchObject({ message: expect.stringMatching(message) as string, extensions: { code } });
    expectNoInternals(text);
  });

  it.each([
    ['metadata nested 100 deep', withMetadata(nested(100)), /metadata must be nested at most 32 levels deep/],
    ['metadata nested 50 000 deep', withMetadata(nested(50_000)), /metadata must be nested/],
    [
      'metadata of 200 kB',
      withMetadata(JSON.stringify({ a: 'x'.repeat(200_000) })),
      /metadata must be JSON of at most 65536 bytes \(got 200008/,
    ],
  ])('gets a problem instead of a payload with %s', async (_, body, message) => {
    const { status, text, data } = await post<{ storeEpisode: unknown }>(body);

    expect(status).toBe(200);
    expect(data.storeEpisode).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(message) as string,
    });
    expectNoInternals(text);
  });

  it.each([
    ['a document', '{ health '.repeat(5000)],
    ['a value in a document', `mutation { storeEpisode(input: { metadata: ${'{a:'.repeat(50_000)}`],
  ])('is told so with %s that is nested without end', async (_, document) => {
    const { text, errors } = await query(document);

    // Whichever limit is met first: the number of words, or the depth that the parser can follow.
    expect(errors?.[0]?.message).toMatch(/5000 tokens|nested too deeply/);
    expect(['BAD_REQUEST', 'LIMIT_EXCEEDED']).toContain(errors?.[0]?.extensions.code);
    expectNoInternals(text);
  });

  it('is refused with 413 when the body is too large, whether or not its length is announced', async () => {
    const body = asQuery('{ health { status } }', { padding: 'x'.repeat(5_000_000) });
    const announced = await post(body, { 'content-length': String(body.length) });
    const streamed = await testApp.app.fetch(
      new Request(`${origin}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Blob([body]).stream(),
        duplex: 'half',
      } as RequestInit),
    );

    expect(announced).toMatchObject({ status: 413, errors: [{ message: 'Request body too large' }] });
    expect(streamed.status).toBe(413);
  });

  it('is refused when the body is no JSON by its type', async () => {
    const response = await testApp.app.fetch(
      new Request(`${origin}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: asQuery('{ health { status } }'),
      }),
    );

    expect(response.status).toBe(415);
  });
});

describe('hostile metadata', () => {
  it('comes back as it was given and changes no prototype', async () => {
    const metadata = '{"$type":"Json","constructor":{"prototype":{"polluted":true}}}';
    const { data } = await post<Stored>(
      `{"query":${JSON.stringify(storeWithMetadata)},"variables":{"metadata":${metadata}}}`,
    );

    expect(JSON.stringify(data.storeEpisode.episode.metadata)).toBe(metadata);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is refused with the key __proto__, and changes no prototype', async () => {
    const { data } = await post<{ storeEpisode: unknown }>(withMetadata('{"__proto__":{"polluted":true}}'));

    expect(data.storeEpisode).toMatchObject({ code: 'INVALID_INPUT' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('loses what the database cannot hold and nobody misses: NUL', async () => {
    const { data } = await query<Stored>(storeWithMetadata, { metadata: { 'k\0ey': ['one\0two'] } });

    expect(data.storeEpisode.episode).toMatchObject({ metadata: { key: ['onetwo'] } });
  });
});

const nothing = '00000000-0000-4000-8000-000000000000';

const find = (id: string): Promise<GraphQLAnswer> => query('query ($id: ID!) { node(id: $id) { id } }', { id });

describe('a memory by its id alone', () => {
  const ask = (document: string, id: string): Promise<GraphQLAnswer> =>
    query(`query ($id: String!) { ${document} { __typename id uuid } }`, { id });
  const storeFactQuery =
    'mutation { storeFact(input: { subject: "a", predicate: "b", content: "c" }) { ... on StoreFactPayload { fact { id uuid } } } }';

  it('is found by its UUID and by its global id, and tells both', async () => {
    const { data } = await query<{ storeFact: { fact: { id: string; uuid: string } } }>(storeFactQuery);
    const { fact } = data.storeFact;
    const found = { data: { memory: { __typename: 'Fact', ...fact } } };

    expect(await ask('memory(id: $id)', fact.uuid)).toMatchObject(found);
    expect(await ask('memory(id: $id)', fact.id)).toMatchObject(found);
    expect(await ask('memory(type: fact, id: $id)', fact.id)).toMatchObject(found);
    expect(await ask('memory(type: rule, id: $id)', fact.uuid)).toMatchObject({ data: { memory: null } });
  });

  it.each([
    [
      'memory(type: rule, id: $id)',
      `fact:${nothing}`,
      `id must be the UUID or global id of a memory of type rule (got "fact:${nothing}")`,
    ],
    [
      'memory(id: $id)',
      `memoryEvent:${nothing}`,
      `id must be the UUID or global id of a memory (got "memoryEvent:${nothing}")`,
    ],
    ['memory(id: $id)', 'first', 'id must be a UUID or a handle such as "ab123cd" (got "first")'],
  ])('is refused for %s of %s', async (document, id, message) => {
    expect((await ask(document, id)).errors?.[0]).toMatchObject({ message, extensions: { code: 'INVALID_INPUT' } });
  });

  it.each(['episode', 'fact', 'rule'])('is null when there is no such %s', async (type) => {
    const { data, errors } = await query(
      `query ($id: UUID!) { ${type}(id: $id) { id } memory(id: "${nothing}") { id } }`,
      {
        id: nothing,
      },
    );
    expect({ data, errors }).toEqual({ data: { [type]: null, memory: null }, errors: undefined });
  });
});

describe('a node', () => {
  it('is found by its global id until it expires, and is null after that', async () => {
    const { data } = await query<Stored>(storeWithMetadata);
    const { id, uuid } = data.storeEpisode.episode;
    expect(id).toBe(`episode:${uuid}`);
    expect((await find(id)).data).toEqual({ node: { id } });

    const storedAt = testApp.clock.now;
    testApp.clock.now = new Date(storedAt.getTime() + 8 * 86_400_000);
    const later = await find(id);
    testApp.clock.now = storedAt;

    expect(later.data).toEqual({ node: null });
    expect(later.errors).toBeUndefined();
  });

  it('is null when there is none', async () => {
    const id = 'episode:00000000-0000-4000-8000-000000000000';

    expect(await find(id)).toMatchObject({ data: { node: null } });
    expect(await query('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id] })).toMatchObject({
      data: { nodes: [null] },
    });
  });
});

describe('a page of another site', () => {
  it.each(['/graphql', '/mcp', '/readyz'])('is refused at %s', async (path) => {
    const response = await testApp.app.fetch(
      new Request(origin + path, { headers: { origin: 'https://evil.example', host: 'localhost' } }),
    );

    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'FORBIDDEN' } });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });

  it('is refused when its name was pointed at this machine', async () => {
    const response = await testApp.app.fetch(new Request('http://evil.example/graphql?query={health{status}}'));

    expect(response.status).toBe(403);
  });

  it('gets no leave to ask', async () => {
    const response = await testApp.app.fetch(
      new Request(`${origin}/graphql`, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } }),
    );

    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });

  it('is told apart from our own pages', async () => {
    const { status } = await post('{"query":"{ health { status } }"}', { origin });

    expect(status).toBe(200);
  });
});

describe('a browser that a page of another site sends here', () => {
  const send = (path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> =>
    testApp.app.fetch(new Request(origin + path, { ...init, headers }));
  const read = '/graphql?query={health{status}}';

  it.each(['cross-site', 'same-site', 'made-up'])('is refused where it says %s and no origin', async (site) => {
    for (const path of [read, '/graphql', '/mcp', '/readyz', '/metrics']) {
      const response = await send(path, { 'sec-fetch-site': site });
      expect(response.status, path).toBe(403);
      expect(await response.json()).toEqual({
        error: { code: 'FORBIDDEN', message: `sec-fetch-site must be same-origin or none (got "${site}")` },
      });
    }
  });

  it.each(['same-origin', 'none'])('is not one that says %s', async (site) => {
    expect((await send(read, { 'sec-fetch-site': site })).status).toBe(200);
    const explorer = await send('/graphql', { 'sec-fetch-site': site, accept: 'text/html' });
    expect(await explorer.text()).toContain('<title>Butler Memory</title>');
  });

  it('may follow a link to the first page', async () => {
    expect((await send('/', { 'sec-fetch-site': 'cross-site' })).status).toBe(200);
  });

  const mutation = 'mutation { storeNote(input: { content: "by a form", butler: "home" }) { __typename } }';
  it.each([
    ['application/x-www-form-urlencoded', `query=${encodeURIComponent(mutation)}`],
    ['text/plain', JSON.stringify({ query: mutation })],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n{__typename}\r\n--x--',
    ],
    ['application/graphql', mutation],
  ])('cannot write by a form: %s', async (type, body) => {
    const response = await send('/graphql', { 'content-type': type }, { method: 'POST', body });

    expect(response.status).toBe(415);
    expect(await response.json()).toEqual({
      error: { code: 'BAD_REQUEST', message: `content-type must be application/json (got ${JSON.stringify(type)})` },
    });
    const stored = await testApp.core.db.forTenant('default').client.fact.count({ where: { content: 'by a form' } });
    expect(stored).toBe(0);
  });

  it('is refused a body that says nothing of its type, and not one with a character set', async () => {
    const body = new TextEncoder().encode(asQuery('{ __typename }'));
    expect((await send('/graphql', {}, { method: 'POST', body })).status).toBe(415);
    const type = 'application/json; charset=utf-8';
    expect((await send('/graphql', { 'content-type': type }, { method: 'POST', body })).status).toBe(200);
  });

  it('counts as nobody who needed a memory: a query by GET makes no reference', async () => {
    const context = testApp.app.createContext();
    const { id } = await storeFact(context.memory, { subject: 'user', predicate: 'drinks', content: 'Tea' });
    const text = `{ memory(type: fact, id: "${id}", countReference: true) { __typename } }`;
    const references = async (): Promise<number> => {
      await context.references.flush();
      const found = await testApp.core.db.forTenant('default').client.fact.findFirst({ where: { id } });
      return found?.referenceCount ?? Number.NaN;
    };

    const answer = await send(`/graphql?query=${encodeURIComponent(text)}`, {});
    expect(await answer.json()).toEqual({ data: { memory: { __typename: 'Fact' } } });
    expect(await references()).toBe(0);
    await query(text);
    expect(await references()).toBe(1);
  });
});
