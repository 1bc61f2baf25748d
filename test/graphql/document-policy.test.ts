import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { postToGraphQL, requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';

const introspection = '{ __schema { queryType { name } } }';

let testApp: TestApp | undefined;

afterEach(async () => {
  await testApp?.close();
  testApp = undefined;
});

function configWith(graphql: Partial<Config['graphql']>, environment: Config['butler']['environment']): Config {
  const config = testConfig();
  return { ...config, butler: { ...config.butler, environment }, graphql: { ...config.graphql, ...graphql } };
}

async function ask(config: Config, body: object): Promise<GraphQLAnswer> {
  const own = await createTestApp(config);
  testApp = own;
  return postToGraphQL((request) => own.app.fetch(request), 'http://localhost', JSON.stringify(body));
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
    const { operations } = own.app;
    expect(operations.validate(operations.parse(introspection)).length === 0).toBe(isAllowed);
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
    const { operations } = own.app;
    const problems = operations.validate(operations.parse('{ healt { engine } }'));
    expect(/Did you mean/.test(JSON.stringify(problems.map((problem) => operations.maskError(problem))))).toBe(isOn);
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
