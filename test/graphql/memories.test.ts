import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';
import {
  confirmMemory,
  forgetMemory,
  ingestEpisodes,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeRule,
} from '../support/writes.ts';

let testApp: TestApp;
const start = new Date('2026-03-01T12:00:00.000Z');

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const context = (): MemoryContext => testApp.app.createContext().memory;

// oxlint-disable-next-line typescript/no-explicit-any -- what a query answers is what its test says
async function ask(query: string, variables: Record<string, unknown> = {}): Promise<any> {
  const { data, errors } = await answerTo(query, variables);
  expect(errors).toBeUndefined();
  return data;
}

function answerTo(query: string, variables: Record<string, unknown> = {}): Promise<GraphQLAnswer> {
  return requestGraphQL((request) => testApp.app.fetch(request), 'http://localhost', query, variables);
}

async function onDay<T>(day: number, work: () => Promise<T>): Promise<T> {
  testApp.clock.now = new Date(start.getTime() + day * 86_400_000);
  return work().finally(() => (testApp.clock.now = start));
}

describe('a list', () => {
  it('gives each memory once over its pages, in order, with the exact count', async () => {
    await ingestEpisodes(
      context(),
      Array.from({ length: 7 }, (_, number) => ({ butler: 'pages', content: `episode ${number}` })),
    );
    const query = `
      query ($first: Int, $after: String, $last: Int, $before: String) {
        episodes(first: $first, after: $after, last: $last, before: $before, filter: { butler: "pages" }) {
          totalCount
          edges {
            cursor
            node {
              content
            }
          }
          pageInfo {
            hasNextPage
            hasPreviousPage
            startCursor
            endCursor
          }
        }
      }
    `;
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const { episodes } = await ask(query, { first: 3, after });
      expect(episodes.totalCount).toBe(7);
      for (const { node } of episodes.edges) seen.push(node.content);
      after = episodes.pageInfo.hasNextPage ? episodes.pageInfo.endCursor : null;
    } while (after !== null);

    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((number) => `episode ${number}`));
    const { episodes: end } = await ask(query, { last: 2 });
    expect(end.edges.map(({ node }: { node: { content: string } }) => node.content)).toEqual([
      'episode 1',
      'episode 0',
    ]);
    const { episodes: earlier } = await ask(query, { last: 2, before: end.pageInfo.startCursor });
    expect(earlier.edges.map(({ node }: { node: { content: string } }) => node.content)).toEqual([
      'episode 3',
      'episode 2',
    ]);
  });

  it('is live by default, and takes forgotten for retracted', async () => {
    const { id } = await storeFact(context(), { subject: 'lists', predicate: 'gone', content: 'x' });
    await storeFact(context(), { subject: 'lists', predicate: 'there', content: 'y' });
    await forgetMemory(context(), { type: 'fact', id });
    const { live, gone } = await ask(`
      {
        live: facts(filter: { subject: "Lists" }) {
          totalCount
          edges {
            node {
              predicate
            }
          }
        }
        gone: facts(filter: { subject: "lists", validity: [forgotten] }) {
          edges {
            node {
              predicate
              validity
            }
          }
        }
      }
    `);

    expect(live).toEqual({ totalCount: 1, edges: [{ node: { predicate: 'there' } }] });
    expect(gone.edges).toEqual([{ node: { predicate: 'gone', validity: 'retracted' } }]);
  });

  it('is ordered as asked, and refuses an order that the type does not have', async () => {
    for (const importance of [3, 9, 6])
      await storeRule(context(), { content: `rule ${importance}`, importance, scope: 'order' });
    const { rules } = await ask(`
      {
        rules(filter: { scope: "order", tags: [] }, order: { field: importance, direction: ascending }) {
          edges {
            node {
              importance
            }
          }
        }
      }
    `);
    expect(rules.edges.map(({ node }: { node: { importance: number } }) => node.importance)).toEqual([3, 6, 9]);
    const { errors } = await answerTo('{ facts(order: { field: effectiveness }) { totalCount } }');
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'INVALID_INPUT' } });
  });

  it.each([
    ['{ facts(first: 101) { totalCount } }', 'first must be a whole number from 1 to 100 (got 101)'],
    ['{ facts(first: 0) { totalCount } }', 'first must be a whole number from 1 to 100 (got 0)'],
    ['{ facts(after: "nonsense") { edges { cursor } } }', 'cursor'],
    ['{ facts(filter: { minConfidence: 7 }) { totalCount } }', 'min_confidence must be a number from 0 to 1 (got 7)'],
  ])('refuses %s', async (query, message) => {
    const { errors } = await answerTo(query);
    expect(errors?.[0]?.message).toContain(message);
  });
});

describe('a memory', () => {
  it('leads to where it came from, what replaced it and what was done to it', async () => {
    const episode = await storeEpisode(context(), { content: 'talked about tea', butler: 'health' });
    const shared = { subject: 'way', predicate: 'tea', sourceEpisodeId: episode.id };
    const old = await storeFact(context(), { ...shared, content: 'black' });
    const now = await storeFact(context(), { ...shared, content: 'green' });
    const { fact } = await ask(
      `
        query ($id: UUID!) {
          fact(id: $id) {
            supersedes {
              uuid
              supersededBy {
                uuid
              }
            }
            sourceEpisode {
              ... on Episode {
                content
                facts {
                  content
                }
                rules {
                  content
                }
              }
            }
            links(direction: outbound) {
              relation
              targetId
              target {
                __typename
                ... on Episode {
                  content
                }
              }
            }
            provenance(depth: 2) {
              depth
              link {
                relation
              }
              memory {
                ... on Fact {
                  uuid
                }
                ... on Episode {
                  uuid
                }
              }
            }
            events {
              eventType
              actor
              memory {
                uuid
              }
            }
          }
        }
      `,
      { id: now.id },
    );

    expect(fact.supersedes).toEqual({ uuid: old.id, supersededBy: { uuid: now.id } });
    expect(fact.sourceEpisode).toEqual({
      content: 'talked about tea',
      facts: [{ content: 'green' }, { content: 'black' }],
      rules: [],
    });
    expect(fact.links.map(({ relation }: { relation: string }) => relation).toSorted()).toEqual([
      'derived_from',
      'supersedes',
    ]);
    expect(fact.provenance).toHaveLength(2);
    expect(fact.events).toEqual([{ eventType: 'fact.stored', actor: 'operator', memory: { uuid: now.id } }]);
  });

  it('that is gone answers as a tombstone where it is cited', async () => {
    const episode = await storeEpisode(context(), { content: 'will be gone', butler: 'health' });
    const { id } = await storeFact(context(), {
      subject: 'way',
      predicate: 'gone',
      content: 'x',
      sourceEpisodeId: episode.id,
    });
    const query =
      'query ($id: UUID!) { fact(id: $id) { sourceEpisode { __typename ... on Tombstone { uuid reason } } } }';
    const { fact } = await onDay(8, () => ask(query, { id }));

    expect(fact.sourceEpisode).toEqual({ __typename: 'Tombstone', uuid: episode.id, reason: 'expired' });
  });

  it('is linked to another, and the link is undone by its event', async () => {
    const [one, other] = [
      await storeRule(context(), { content: 'knock first' }),
      await storeRule(context(), { content: 'ring first' }),
    ];
    const link = `
      mutation ($input: LinkMemoriesInput!) {
        linkMemories(input: $input) {
          __typename
          ... on LinkMemoriesPayload {
            eventId
            link {
              relation
            }
          }
          ... on Problem {
            code
            message
            hint
          }
        }
      }
    `;
    const input = {
      source: { type: 'rule', id: one.id },
      target: { type: 'rule', id: other.id },
      relation: 'contradicts',
    };
    const { linkMemories } = await ask(link, { input });
    expect(linkMemories).toMatchObject({ __typename: 'LinkMemoriesPayload', link: { relation: 'contradicts' } });
    const linksOf = 'query ($id: UUID!) { rule(id: $id) { links(direction: inbound) { relation } } }';
    expect((await ask(linksOf, { id: other.id })).rule.links).toEqual([{ relation: 'contradicts' }]);
    await ask('mutation ($id: String!) { undo(input: { eventId: $id }) { __typename } }', { id: linkMemories.eventId });
    expect((await ask(linksOf, { id: other.id })).rule.links).toEqual([]);
    const self = await ask(link, { input: { ...input, target: input.source } });
    expect(self.linkMemories).toMatchObject({ __typename: 'InvalidInput', code: 'INVALID_INPUT' });
  });
});

describe('the past', () => {
  it('is seen as it was on any day, confidence and all', async () => {
    const { id } = await storeFact(context(), {
      subject: 'past',
      predicate: 'mood',
      content: 'fine',
      permanence: 'volatile',
    });
    await onDay(10, () => confirmMemory(context(), { type: 'fact', id }));
    await onDay(12, () => storeFact(context(), { subject: 'past', predicate: 'mood', content: 'tired' }));
    const query = `
      query ($at: DateTime!, $id: String!) {
        asOf(at: $at) {
          memory(type: fact, id: $id) {
            ... on Fact {
              validity
              effectiveConfidence
              lastConfirmedAt
            }
          }
          facts(subject: "past") {
            totalCount
            edges {
              node {
                content
                validity
              }
            }
          }
        }
      }
    `;
    const at = (day: number): { at: Date; id: string } => ({ at: new Date(start.getTime() + day * 86_400_000), id });
    const { asOf: before } = await ask(query, at(-1));
    const { asOf: fifth } = await ask(query, at(5));
    const { asOf: eleventh } = await ask(query, at(11));
    const { asOf: last } = await ask(query, at(13));

    expect(before).toEqual({ memory: null, facts: { totalCount: 0, edges: [] } });
    expect(fifth.memory.effectiveConfidence).toBeCloseTo(Math.exp(-0.03 * 5), 10);
    expect(eleventh.memory.effectiveConfidence).toBeCloseTo(Math.exp(-0.03), 10);
    expect(eleventh.facts).toEqual({ totalCount: 1, edges: [{ node: { content: 'fine', validity: 'active' } }] });
    expect(last.memory.validity).toBe('superseded');
    expect(last.facts.totalCount).toBe(2);
  });

  it('knows since when a rule was forgotten, until it was restored', async () => {
    const { id } = await storeRule(context(), { content: 'knock before entering' });
    const forgotten: string[] = [];
    for (const day of [1, 3]) {
      await onDay(day, () => forgetMemory(context(), { type: 'rule', id }));
      forgotten.push(new Date(start.getTime() + day * 86_400_000).toISOString());
      expect((await ask('query ($id: UUID!) { rule(id: $id) { forgottenAt } }', { id })).rule.forgottenAt).toBe(
        forgotten.at(-1),
      );
      await onDay(day + 1, () => restoreMemory(context(), { type: 'rule', id }));
    }
    const query = `query ($id: String!, $at: DateTime!) {
      asOf(at: $at) { memory(type: rule, id: $id) { ... on Rule { forgottenAt } } }
    }`;
    const on = async (day: number): Promise<unknown> =>
      (await ask(query, { id, at: new Date(start.getTime() + day * 86_400_000) })).asOf.memory.forgottenAt;

    expect([await on(0.5), await on(1.5), await on(2.5), await on(3.5), await on(4.5)]).toEqual([
      null,
      forgotten[0],
      null,
      forgotten[1],
      null,
    ]);
  });

  it('differs from the present by what changed in between', async () => {
    const [from, to] = [20, 21].map((day) => new Date(start.getTime() + day * 86_400_000));
    await onDay(20.5, async () => {
      await storeFact(context(), { subject: 'diff', predicate: 'a', content: 'one' });
      await storeFact(context(), { subject: 'diff', predicate: 'a', content: 'two' });
    });
    const { diff } = await ask(
      `
        query ($from: DateTime!, $to: DateTime!) {
          diff(from: $from, to: $to) {
            counts {
              type
              kind
              count
            }
            changes {
              totalCount
              edges {
                node {
                  kind
                  before {
                    uuid
                  }
                  after {
                    content
                  }
                }
              }
            }
          }
        }
      `,
      { from, to },
    );

    expect(diff.counts).toEqual([
      { type: 'fact', kind: 'created', count: 1 },
      { type: 'fact', kind: 'superseded', count: 1 },
    ]);
    expect(diff.changes.totalCount).toBe(2);
    expect(diff.changes.edges[0].node).toEqual({ kind: 'created', before: null, after: { content: 'two' } });
  });

  it('is told in the order of the world', async () => {
    const observed = [3, 1, 2];
    for (const day of observed) {
      await storeEpisode(context(), {
        butler: 'world',
        content: `day ${day}`,
        observedAt: new Date(`2026-01-0${day}T00:00:00Z`),
      });
    }
    const { timeline } = await ask(`
      {
        timeline(filter: { butler: "world" }, first: 2) {
          totalCount
          edges {
            node {
              at
              memory {
                content
              }
            }
          }
          pageInfo {
            hasNextPage
          }
        }
      }
    `);

    expect(timeline).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    expect(timeline.edges.map(({ node }: { node: { memory: { content: string } } }) => node.memory.content)).toEqual([
      'day 3',
      'day 2',
    ]);
  });
});

describe('a write that is refused', () => {
  it.each([
    ['InvalidInput', 'storeFact(input: { subject: "s", predicate: "p", content: " " })'],
    ['InvalidInput', 'storeFact(input: { subject: "s", predicate: "p", content: "c", importance: 11 })'],
    ['NotFound', 'forgetMemory(input: { type: rule, id: "00000000-0000-4000-8000-000000000000" })'],
    ['InvalidTransition', 'confirmMemory(input: { type: episode, id: "00000000-0000-4000-8000-000000000000" })'],
  ])('answers with the type %s', async (type, mutation) => {
    const data = await ask(`mutation { result: ${mutation} { __typename ... on Problem { code message hint } } }`);
    expect(data.result).toMatchObject({ __typename: type, message: expect.stringMatching(/\w/) as string });
  });
});
