import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';
import { storeFact, storeRule } from '../support/writes.ts';

let testApp: TestApp;

beforeAll(async () => {
  testApp = await createTestApp();
  const context = testApp.app.createContext().memory;
  await storeRule(context, { content: 'ask first' });
  for (const permanence of ['volatile', 'ephemeral', 'permanent']) {
    await storeFact(context, { subject: 'user', predicate: permanence, content: permanence, permanence });
  }
});
afterAll(() => testApp.close());

interface Page {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; endCursor: string };
  edges: object[];
}

function answerTo(selection: string): Promise<GraphQLAnswer> {
  return requestGraphQL((request) => testApp.app.fetch(request), 'http://localhost', `{ ${selection} }`, {});
}

async function ask(selection: string): Promise<Page> {
  const { data, errors } = await answerTo(selection);
  expect(errors).toBeUndefined();
  return (data as { fading: Page }).fading;
}

const page = `totalCount pageInfo { hasNextPage endCursor } edges { node { memory { type content } fadesAt expiresAt } }`;

it('what fades is listed with its dates, the first to fade first, page by page', async () => {
  const first = await ask(`fading(first: 2, withinDays: 200) { ${page} }`);
  expect(first).toMatchObject({
    totalCount: 3,
    pageInfo: { hasNextPage: true },
    edges: [
      { node: { memory: { type: 'fact', content: 'ephemeral' } } },
      { node: { memory: { content: 'volatile' } } },
    ],
  });
  const next = await ask(`fading(first: 2, withinDays: 200, after: "${first.pageInfo.endCursor}") { ${page} }`);
  expect(next).toMatchObject({
    pageInfo: { hasNextPage: false },
    edges: [{ node: { memory: { type: 'rule', content: 'ask first' } } }],
  });
});

it('a month is looked ahead unless another number is given', async () => {
  const found = await ask(`fading { totalCount edges { node { memory { content } } } }`);
  expect(found).toEqual({ totalCount: 1, edges: [{ node: { memory: { content: 'ephemeral' } } }] });
});

it('a span that makes no sense is refused', async () => {
  const { errors } = await answerTo(`fading(withinDays: -1) { totalCount }`);
  expect(errors?.[0]?.message).toContain('within_days must be a number from 0 to 36500 (got -1)');
});
