import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
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
  const context = testApp.app.createContext().memory;
  for (let number = 0; number < 12; number++) {
    const { id: sourceEpisodeId } = await storeEpisode(context, { content: `episode ${number}`, butler: 'health' });
    for (const content of ['old', 'new']) {
      await storeFact(context, { subject: 'user', predicate: `fact ${number}`, content, sourceEpisodeId });
    }
    const rule = await storeRule(context, { content: `rule ${number}`, sourceEpisodeId });
    await markRule(context, { ruleId: rule.id, outcome: 'helpful' });
  }
});
afterAll(async () => {
  await testApp.close();
  statements.mockRestore();
});

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

async function countStatements(first: number): Promise<number> {
  const before = countReads();
  const { data, errors } = await requestGraphQL<Facts>(
    (request) => testApp.app.fetch(request),
    'http://localhost',
    threeLevels,
    { first },
  );
  expect(errors).toBeUndefined();
  expect(data.facts.edges).toHaveLength(first);
  return countReads() - before;
}

/** Not what a new connection says first, nor the heads and ends of transactions, nor what tells others of earlier writes. */
function countReads(): number {
  return statements.mock.calls.filter(([query]) => {
    const text = typeof query === 'string' ? query : (query as unknown as { text: string }).text;
    return /\bFROM\b/.test(text) && !text.includes('pg_notify');
  }).length;
}

interface Facts {
  facts: { edges: unknown[] };
}

describe('a query three levels deep', () => {
  it('costs the same number of statements for few memories as for many', async () => {
    const few = await countStatements(2);
    const many = await countStatements(12);

    expect(few).toBeGreaterThan(0);
    expect(many).toBe(few);
  });
});
