import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadersOf, type Loaders } from '../../src/graphql/loaders.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { buildContext } from '../../src/retrieval/context/context.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requestGraphQL } from '../support/graphql-request.ts';
import {
  claimForAgent,
  forgetMemory,
  ingestEpisodes,
  markRule,
  storeEpisode,
  storeFact,
  storeRule,
  submitOutput,
} from '../support/writes.ts';

let testApp: TestApp;
let ids: Record<'episode' | 'fact' | 'superseded' | 'rule' | 'forgotten', string>;

beforeAll(async () => {
  testApp = await createTestApp();
  const episode = await storeEpisode(context(), { butler: 'health', content: 'The user spoke of food.' });
  const source = { subject: 'user', sourceEpisodeId: episode.id };
  const superseded = await storeFact(context(), { ...source, predicate: 'food', content: 'ramen' });
  const fact = await storeFact(context(), { ...source, predicate: 'food', content: 'soba' });
  for (const predicate of ['drink', 'dessert']) await storeFact(context(), { ...source, predicate, content: 'tea' });
  const rule = await storeRule(context(), { content: 'ask about allergies', sourceEpisodeId: episode.id });
  for (const reason of ['good', 'better']) {
    await markRule(context(), { ruleId: rule.id, outcome: 'helpful', reason });
  }
  const forgotten = await storeRule(context(), { content: 'never ask at night' });
  await forgetMemory(context(), { type: 'rule', id: forgotten.id });
  await buildContext(context(), { triggerPrompt: 'soba', butler: 'health' });
  ids = { episode: episode.id, fact: fact.id, superseded: superseded.id, rule: rule.id, forgotten: forgotten.id };
});
afterAll(() => testApp.close());

const context = (): MemoryContext => testApp.app.createContext().memory;

const limit = 20;
const ofEpisode = () => ({ reference: { type: 'episode' as const, id: ids.episode }, choice: { limit } });
const ofRule = () => ({ reference: { type: 'rule' as const, id: ids.rule }, choice: { limit } });
const ofFact = () => ({ reference: { type: 'fact' as const, id: ids.fact }, choice: { limit } });

/** Of every loader: a key that has something, asked for as often as one likes, and how much there is. */
const loads: { [Name in keyof Loaders]: [count: number, load: (loaders: Loaders) => Promise<unknown>] } = {
  memories: [1, ({ memories }) => memories.load({ type: 'fact', id: ids.fact })],
  ends: [1, ({ ends }) => ends.load({ type: 'episode', id: ids.episode })],
  links: [
    5,
    ({ links }) => {
      const { reference } = ofEpisode();
      return links.load({ reference, choice: { direction: 'both', relations: null, limit } });
    },
  ],
  events: [1, ({ events }) => events.load(ofEpisode())],
  applications: [2, ({ applications }) => applications.load(ofRule())],
  factsLearnedFrom: [4, ({ factsLearnedFrom }) => factsLearnedFrom.load(ofEpisode())],
  rulesLearnedFrom: [1, ({ rulesLearnedFrom }) => rulesLearnedFrom.load(ofEpisode())],
  receipts: [1, ({ receipts }) => receipts.load(ofFact())],
  successors: [1, ({ successors }) => successors.load({ type: 'fact', id: ids.superseded })],
  forgottenMoments: [
    1,
    ({ forgottenMoments }) =>
      forgottenMoments.load({ reference: { type: 'rule', id: ids.forgotten }, choice: { at: null } }),
  ],
};

describe('a key that is asked for several times at once', () => {
  it.each(Object.entries(loads))('is answered as if it were asked for once: %s', async (_, [count, load]) => {
    const alone = await load(loadersOf(context()));
    const loaders = loadersOf(context());
    const answers = await Promise.all([load(loaders), load(loaders), load(loaders)]);

    expect([alone].flat()).toHaveLength(count);
    for (const answer of answers) expect(answer).toEqual(alone);
  });
});

interface Nested {
  facts: {
    edges: { node: { links: { target: { uuid: string; events: { uuid: string }[]; links: object[] } | null }[] } }[];
  };
}

describe('a nested list', () => {
  it('holds each item once, however many ways lead to it', async () => {
    const query = `{ facts(first: 3) { edges { node { links(relations: [derived_from], limit: 2) { target { ... on Episode {
      uuid events(limit: 5) { uuid } links(limit: 10) { relation source { ... on Fact { uuid } ... on Rule { uuid } } }
    } } } } } } }`;
    const ask = (request: Request): Promise<Response> => testApp.app.fetch(request);
    const { data, errors } = await requestGraphQL<Nested>(ask, 'http://localhost', query);
    expect(errors).toBeUndefined();
    const episodes = data.facts.edges.flatMap(({ node }) => node.links.flatMap(({ target }) => target ?? []));

    expect(episodes).toHaveLength(3);
    for (const { events, links } of episodes) {
      expect(events).toHaveLength(1);
      expect(links).toHaveLength(5);
      expect(new Set(links.map((link) => JSON.stringify(link))).size).toBe(5);
    }
  });
});

describe('an episode', () => {
  it('lists the facts and rules that were learned from it and from others together', async () => {
    const [first, second] = await ingestEpisodes(context(), [
      { butler: 'chef', content: 'The user drank green tea.' },
      { butler: 'chef', content: 'The user ordered green tea again.' },
    ]);
    const evidence = [
      { episode_id: first?.id, quote: 'drank green tea' },
      { episode_id: second?.id, quote: 'ordered green tea' },
    ];
    const claimed = await claimForAgent(context(), { butler: 'chef' });
    const run = await submitOutput(context(), claimed?.claim.runId ?? '', {
      new_facts: [{ subject: 'user', predicate: 'favourite_drink', content: 'green tea', evidence }],
      new_rules: [{ content: 'Offer green tea', evidence }],
    });
    expect(run).toMatchObject({ factsCreated: 1, rulesCreated: 1 });

    for (const episode of [first, second]) {
      const query = `query ($id: UUID!) { episode(id: $id) { facts { content } rules { content } } }`;
      const ask = (request: Request): Promise<Response> => testApp.app.fetch(request);
      const { data } = await requestGraphQL(ask, 'http://localhost', query, { id: episode?.id });
      expect(data).toEqual({ episode: { facts: [{ content: 'green tea' }], rules: [{ content: 'Offer green tea' }] } });
    }
  });
});
