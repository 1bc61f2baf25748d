import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requestGraphQL } from '../support/graphql-request.ts';
import { dropIdleDatabases } from '../support/reused-database.ts';
import { markRule, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

let testApp: TestApp;
// Before the first connection is made: the engines keep hold of the function that a connection came with.
const statements = vi.spyOn(Client.prototype, 'query');

beforeAll(async () => {
  await dropIdleDatabases();
  testApp = await createTestApp();
  for (let number = 0; number < 12; number++) {
    const { id: sourceEpisodeId } = await storeEpisode(context(), { content: `episode ${number}`, butler: 'health' });
    for (const content of ['old', 'new']) {
      await storeFact(context(), { subject: 'user', predicate: `fact ${number}`, content, sourceEpisodeId });
    }
    const rule = await storeRule(context(), { content: `rule ${number}`, sourceEpisodeId });
    await markRule(context(), { ruleId: rule.id, outcome: 'helpful' });
  }
});
afterAll(async () => {
  await testApp.close();
  statements.mockRestore();
});

const context = (): MemoryContext => testApp.app.createContext().memory;

/** From a fact over its episode to what else was learned there, with links, events and applications. */
const threeLevels = `
  query ($first: Int!) {
    facts(first: $first) {
      totalCount
      edges {
        node {
          effectiveConfidence
          supersedes {
            content
          }
          supersededBy {
            content
          }
          events(limit: 2) {
            eventType
          }
          links(limit: 5) { relation }
          sourceEpisode {
            ... on Episode {
              content
              facts(limit: 5) {
                content
                events(limit: 1) {
                  eventType
                  memory {
                    content
                  }
                }
                links(limit: 5) {
                  target {
                    __typename
                  }
                }
              }
              rules(limit: 5) {
                content
                applications(limit: 5) {
                  outcome
                }
              }
            }
          }
        }
      }
    }
  }
`;

/** Counts the statements of a query with `first` things of a list. */
async function countStatements(query: string, first: number): Promise<number> {
  const before = countReads();
  const { data, errors } = await requestGraphQL<Record<string, { edges: unknown[] }>>(
    (request) => testApp.app.fetch(request),
    'http://localhost',
    query,
    { first },
  );
  expect(errors).toBeUndefined();
  expect(Object.values(data)[0]?.edges).toHaveLength(first);
  return countReads() - before;
}

/** Not what a new connection says first, nor the heads and ends of transactions, nor what tells others of earlier writes. */
function countReads(): number {
  return statements.mock.calls.filter(([query]) => {
    const text = typeof query === 'string' ? query : (query as unknown as { text: string }).text;
    return /\bFROM\b/.test(text) && !text.includes('pg_notify');
  }).length;
}

const reviewed = `
  query ($first: Int!) {
    reviews(first: $first) { edges { node { reason newer { content } older { content } } } }
  }
`;

describe('a query three levels deep', () => {
  it('costs the same number of statements for few memories as for many', async () => {
    const few = await countStatements(threeLevels, 2);
    const many = await countStatements(threeLevels, 12);

    expect(few).toBeGreaterThan(0);
    expect(many).toBe(few);
  });
});

describe('the review list', () => {
  it('costs the same number of statements for few reviews as for many', async () => {
    for (let number = 0; number < 6; number++) {
      const subject = `guest ${number}`;
      const key = 'blue garden gate near the old mill behind the barn';
      for (const name of ['code', 'number']) {
        await storeFact(context(), { subject, predicate: `${key} ${name}`, content: `${name} ${number}` });
      }
    }
    const few = await countStatements(reviewed, 2);

    expect(few).toBeGreaterThan(0);
    expect(await countStatements(reviewed, 6)).toBe(few);
  });
});
