import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { createDocumentPolicy, refuseForeignDocument, validateDocument } from '../../src/graphql/document-policy.ts';
import { socketOptions, type SocketCallers } from '../../src/graphql/sockets.ts';
import { parse } from 'graphql';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { postToGraphQL, requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';

const document = '{ health { engine } }';
const id = createHash('sha256').update(document).digest('hex');
const introspection = '{ __schema { queryType { name } } }';

let directory: string;
let testApp: TestApp | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'butler-memory-persisted-'));
});
afterEach(async () => {
  await testApp?.close();
  testApp = undefined;
});
afterAll(() => rm(directory, { recursive: true }));

function configWith(graphql: Partial<Config['graphql']>, environment: Config['butler']['environment']): Config {
  const config = testConfig();
  return { ...config, butler: { ...config.butler, environment }, graphql: { ...config.graphql, ...graphql } };
}

async function ask(config: Config, body: object): Promise<GraphQLAnswer> {
  const own = await createTestApp(config);
  testApp = own;
  return postToGraphQL((request) => own.app.fetch(request), 'http://localhost', JSON.stringify(body));
}

async function fileOf(content: unknown): Promise<string> {
  const file = join(directory, 'operations.json');
  await writeFile(file, JSON.stringify(content));
  return file;
}

describe('introspection', () => {
  it.each([
    ['development', undefined, true],
    ['production', undefined, false],
    ['production', true, true],
    ['development', false, false],
  ] as const)('in %s, configured as %s, is allowed: %s', async (environment, introspectionKey, isAllowed) => {
    const graphql = introspectionKey === undefined ? {} : { introspection: introspectionKey };
    const config = configWith(graphql, environment);
    const own = await createTestApp(config);
    testApp = own;
    const { errors } = await requestGraphQL((request) => own.app.fetch(request), 'http://localhost', introspection);

    expect(errors === undefined).toBe(isAllowed);
    expect(validateDocument(createDocumentPolicy(config), parse(introspection)).length === 0).toBe(isAllowed);
  });

  const misspelled: [string, Record<string, unknown>?][] = [
    ['{ healt { engine } }'],
    ['{ health { engin } }'],
    ['{ facts(firs: 1) { totalCount } }'],
    ['query ($a: StoreFactInpu) { health { engine } }'],
    ['mutation { storeFact(input: { subjec: "a" }) { __typename } }'],
    [
      'mutation ($input: StoreFactInput!) { storeFact(input: $input) { __typename } }',
      { input: { subject: 'a', predicate: 'b', content: 'c', scop: 'd' } },
    ],
  ];

  it.each([true, false])('that is on, or else off, suggests names of the schema: %s', async (isOn) => {
    const own = await createTestApp(configWith({ introspection: isOn }, 'production'));
    testApp = own;
    for (const [query, variables = {}] of misspelled) {
      const fetch = (request: Request): Promise<Response> => own.app.fetch(request);
      const { errors } = await requestGraphQL(fetch, 'http://localhost', query, variables);
      expect(errors, query).toBeDefined();
      expect(/Did you mean/.test(JSON.stringify(errors)), query).toBe(isOn);
    }
    const { documentPolicy, limits } = own.app;
    const { onError } = socketOptions(documentPolicy, {} as SocketCallers, limits, own.core.logger);
    const problems = validateDocument(documentPolicy, parse('{ healt { engine } }'));
    const told = onError?.({} as never, '1', {} as never, problems);
    expect(/Did you mean/.test(JSON.stringify(told))).toBe(isOn);
  });

  it('has its explorer in development only', async () => {
    for (const [environment, status] of [
      ['development', 200],
      ['production', 406],
    ] as const) {
      const own = await createTestApp(configWith({}, environment));
      const response = await own.app.fetch(
        new Request('http://localhost/graphql', { headers: { accept: 'text/html' } }),
      );
      await own.close();
      expect([environment, response.status === 200]).toEqual([environment, status === 200]);
    }
  });
});

describe('the depth of a document', () => {
  /** An event, and the one that caused it, and so on: as many levels as it says. */
  const ofDepth = (depth: number): string => {
    const causes = depth - 4;
    return `{ activity(first: 1) { edges { node { ${'cause { '.repeat(causes)}uuid${' }'.repeat(causes)} } } } }`;
  };

  it.each([
    [15, undefined],
    [16, 'Query exceeds maximum depth (depth: 16, max: 15)'],
  ])('of %i levels is answered with %s', async (depth, message) => {
    const { errors } = await ask(configWith({}, 'development'), { query: ofDepth(depth) });

    expect(errors?.[0]?.message).toBe(message);
  });
});

describe('a persisted operation', () => {
  const named = (sha256Hash: string): object => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });

  it('is run by its id', async () => {
    const config = configWith({ persistedOperations: await fileOf({ [id]: document }) }, 'development');
    expect((await ask(config, named(id))).data).toMatchObject({ health: { engine: expect.any(String) as string } });
  });

  it('stands beside other documents unless they are refused', async () => {
    const persistedOperations = await fileOf({ [id]: document });
    const open = configWith({ persistedOperations }, 'development');
    expect((await ask(open, { query: '{ health { version } }' })).errors).toBeUndefined();
    await testApp?.close();
    const closed = configWith({ persistedOperations, onlyPersistedOperations: true }, 'development');
    expect((await ask(closed, { query: '{ health { version } }' })).errors?.[0]?.message).toContain('persisted');
    const policy = createDocumentPolicy(closed);
    expect(refuseForeignDocument(policy, '{ health { version } }')).toHaveLength(1);
    expect(refuseForeignDocument(policy, document)).toEqual([]);
  });

  it('that is not known is refused', async () => {
    const config = configWith({ persistedOperations: await fileOf({ [id]: document }) }, 'development');
    expect((await ask(config, named('0'.repeat(64)))).errors).toHaveLength(1);
  });

  it.each([
    ['is no JSON', '{', 'a file of JSON'],
    ['is a list', [], 'an object of documents'],
    ['holds no text', { [id]: 7 }, 'not a text'],
    ['does not fit the schema', { [id]: '{ nothing }' }, 'nothing'],
    ['is no GraphQL', { [id]: '{' }, 'Syntax Error'],
  ])('stops the start when its file %s', async (_name, content, message) => {
    const file = typeof content === 'string' ? join(directory, 'broken.json') : await fileOf(content);
    if (typeof content === 'string') await writeFile(file, content);
    const config = configWith({ persistedOperations: file }, 'development');

    expect(() => createDocumentPolicy(config)).toThrow(message);
  });
});
