import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { MemoryCore } from '../../src/create-memory.ts';
import { contextOf, take, untilReadable, writeEvent, writeMany } from '../support/activity.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { openEventStream, type FeedAnswer } from '../support/feeds.ts';
import { requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';
import { expectNoInternals } from '../support/internals.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

let testApp: TestApp;

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const origin = 'http://localhost';
const ask = <Data>(text: string, variables = {}, app = testApp.app): Promise<GraphQLAnswer<Data>> =>
  requestGraphQL((request) => app.fetch(request), origin, text, variables);
const subscribe = (
  text: string,
  variables = {},
  app = testApp.app,
): Promise<AsyncIterableIterator<FeedAnswer<{ activity: Event }>>> =>
  openEventStream((request) => app.fetch(request), origin, text, variables);

interface Event {
  uuid: string;
  eventType: string;
  memory?: { uuid: string } | null;
  cause?: { eventType: string } | null;
  consequences?: { eventType: string }[];
}

interface Page {
  activity: {
    totalCount: number;
    edges: { cursor: string; node: Event }[];
    pageInfo: { endCursor: string; startCursor: string; hasNextPage: boolean; hasPreviousPage: boolean };
  };
}

const pageQuery = `
  query ActivityTestPage($filter: ActivityFilter, $first: Int, $after: String, $last: Int, $before: String) {
    activity(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      totalCount
      edges { cursor node { uuid eventType } }
      pageInfo { endCursor startCursor hasNextPage hasPreviousPage }
    }
  }
`;

/** Events of a request of their own, so that a filter finds them and no others. */
async function writeOnRequest(count: number): Promise<{ ids: string[]; filter: { requestId: string } }> {
  const requestId = randomUUID();
  return { ids: await writeMany(contextOf(testApp, 'default', requestId), count, 1), filter: { requestId } };
}

const uuidsOf = ({ activity }: Page): string[] => activity.edges.map(({ node }) => node.uuid);

describe('the query activity', () => {
  it('pages through all events, newest first, forwards and backwards', async () => {
    const { ids, filter } = await writeOnRequest(5);
    const first = await ask<Page>(pageQuery, { filter, first: 2 });
    const { endCursor } = first.data.activity.pageInfo;
    const rest = await ask<Page>(pageQuery, { filter, first: 10, after: endCursor });
    const { startCursor } = rest.data.activity.pageInfo;
    const back = await ask<Page>(pageQuery, { filter, last: 1, before: startCursor });

    expect([...uuidsOf(first.data), ...uuidsOf(rest.data)]).toEqual(ids.toReversed());
    expect(uuidsOf(back.data)).toEqual([ids[3]]);
    expect(first.data.activity).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } });
    expect(rest.data.activity).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: false } });
  });

  it('tells all of an event, and of the memory that it is about', async () => {
    const requestId = randomUUID();
    const context = contextOf(testApp, 'default', requestId);
    const stored = { subject: requestId, predicate: 'drinks' };
    const old = await storeFact(context, { ...stored, content: 'tea' });
    await storeFact(context, { ...stored, content: 'coffee' });
    const { data, errors } = await ask<Page>(
      `query ActivityTestAll($filter: ActivityFilter) { activity(filter: $filter) { edges { node {
        id uuid eventType entityType entityId occurredAt actor requestId subrequestId segmentId before after
        cause { eventType } consequences { eventType } reverts { id } revertedBy { id }
        memory { uuid type content ... on Fact { validity } }
      } } } }`,
      { filter: { requestId } },
    );

    expect(errors).toBeUndefined();
    const nodes = data.activity.edges.map(({ node }) => node);
    expect(nodes.find(({ eventType }) => eventType === 'fact.superseded')).toEqual({
      id: expect.stringMatching(/^memoryEvent:[0-9a-f-]{36}$/) as string,
      uuid: expect.any(String) as string,
      eventType: 'fact.superseded',
      entityType: 'fact',
      entityId: old.id,
      occurredAt: testApp.clock.now.toISOString(),
      actor: 'operator',
      requestId,
      subrequestId: null,
      segmentId: null,
      before: expect.objectContaining({ content: 'tea', validity: 'active' }) as object,
      after: expect.objectContaining({ content: 'tea', validity: 'superseded' }) as object,
      cause: { eventType: 'fact.stored' },
      consequences: [],
      reverts: null,
      revertedBy: [],
      memory: { uuid: old.id, type: 'fact', content: 'tea', validity: 'superseded' },
    });
    expect(nodes.find(({ consequences }) => consequences?.length)).toMatchObject({
      eventType: 'fact.stored',
      before: null,
      consequences: [{ eventType: 'fact.superseded' }, { eventType: 'link.created' }],
    });
    expect(nodes.find(({ eventType }) => eventType === 'link.created')).toMatchObject({ memory: null });
  });

  it('has no memory for an episode that expired, nor for one that never was', async () => {
    const requestId = randomUUID();
    const context = contextOf(testApp, 'default', requestId);
    await storeEpisode({ ...context, now: () => new Date('2026-01-01T00:00:00Z') }, { content: 'a', butler: 'b' });
    await writeEvent(context);
    const { data } = await ask<Page>(
      `query ActivityTestGone($filter: ActivityFilter) {
        activity(filter: $filter) { edges { node { eventType memory { uuid } } } }
      }`,
      { filter: { requestId, entityTypes: ['episode', 'fact'] } },
    );

    expect(data.activity.edges.map(({ node }) => node)).toEqual([
      { eventType: 'fact.stored', memory: null },
      { eventType: 'episode.stored', memory: null },
    ]);
  });

  it('reads as often for 40 events as for 4, with all that belongs to them', async () => {
    const text = `query ActivityTestCost($filter: ActivityFilter, $first: Int) {
      activity(filter: $filter, first: $first) {
        edges { node { uuid cause { uuid memory { uuid } } consequences { uuid } revertedBy { uuid } memory { uuid } } }
      }
    }`;
    const requestId = randomUUID();
    const context = contextOf(testApp, 'default', requestId);
    for (let index = 0; index < 20; index++) {
      await storeFact(context, { subject: requestId, predicate: `p${index}`, content: 'tea' });
      await storeFact(context, { subject: requestId, predicate: `p${index}`, content: 'coffee' });
    }
    const costOf = async (first: number): Promise<number> => {
      const counted = countReads();
      const { data, errors } = await ask<Page>(text, { filter: { requestId }, first }, counted.app);
      expect(errors).toBeUndefined();
      expect(data.activity.edges).toHaveLength(first);
      return counted.reads();
    };

    const few = await costOf(4);
    expect(await costOf(40)).toBe(few);
    expect(few).toBeLessThan(8);
  });

  it('goes on from the id of an event, as its UUID and as its global id', async () => {
    const { ids, filter } = await writeOnRequest(3);
    for (const id of [ids[1], `memoryEvent:${ids[1]}`]) {
      expect(uuidsOf((await ask<Page>(pageQuery, { filter, after: id })).data)).toEqual([ids[0]]);
      expect(uuidsOf((await ask<Page>(pageQuery, { filter, last: 5, before: id })).data)).toEqual([ids[2]]);
      expect(uuidsOf((await ask<Page>(pageQuery, { filter: { ...filter, sinceEventId: id } })).data)).toEqual([ids[2]]);
    }
  });

  it('finds an event by its global id', async () => {
    const id = await writeEvent(contextOf(testApp));
    const { data } = await ask(
      `query ActivityTestNode($id: ID!) { node(id: $id) { id ... on MemoryEvent { uuid } } }`,
      { id: `memoryEvent:${id}` },
    );

    expect(data).toEqual({ node: { id: `memoryEvent:${id}`, uuid: id } });
  });

  it.each<[string, object, RegExp]>([
    [
      'a cursor that is none',
      { after: 'first' },
      /after must be a cursor of this connection or the id of an event \(got "first"/,
    ],
    ['a page that is too large', { first: 501 }, /first must be a number from 0 to 500 \(got 501/],
    ['a negative page', { last: -1 }, /last must be a number from 0 to 500 \(got -1/],
    ['an event id that is none', { filter: { sinceEventId: 'x' } }, /since_event_id must be .*got "x"/],
  ])('refuses %s', async (_, variables, message) => {
    const { text, errors } = await ask(pageQuery, variables);

    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(message) as string,
      extensions: { code: 'INVALID_INPUT' },
    });
    expectNoInternals(text);
  });
});

/** The same app on a database that counts how often it is asked. */
function countReads(): { app: TestApp['app']; reads: () => number } {
  let reads = 0;
  const { db } = testApp.core;
  const counted: MemoryCore = {
    ...testApp.core,
    db: {
      ...db,
      forTenant: (...given) => {
        const bound = db.forTenant(...given);
        return {
          ...bound,
          get client() {
            reads++;
            return bound.client;
          },
        };
      },
    },
  };
  return { app: createApp(counted), reads: () => reads };
}

describe('the query activityStream', () => {
  const stream = `query ActivityTestStream($since: String, $scope: String, $limit: Int) {
    activityStream(since: $since, scope: $scope, limit: $limit) { resumeFrom hasMore events { uuid memory { uuid } } }
  }`;
  interface Stream {
    activityStream: { resumeFrom: string; hasMore: boolean; events: Event[] };
  }

  it('goes on from where it was, oldest first', async () => {
    // Otherwise events of the tests above, which could not be read yet, would come after this place as well.
    await untilReadable(contextOf(testApp));
    const now = await ask<Stream>(stream, { limit: 1 });
    const { ids } = await writeOnRequest(3);
    await untilReadable(contextOf(testApp));
    const first = await ask<Stream>(stream, { since: now.data.activityStream.resumeFrom, limit: 2 });
    const second = await ask<Stream>(stream, { since: first.data.activityStream.resumeFrom });
    const afterEvent = await ask<Stream>(stream, { since: ids[1] });

    expect(first.data.activityStream).toMatchObject({ hasMore: true, events: [{ uuid: ids[0] }, { uuid: ids[1] }] });
    expect(second.data.activityStream).toMatchObject({ hasMore: false, events: [{ uuid: ids[2] }] });
    expect(afterEvent.data.activityStream.events).toMatchObject([{ uuid: ids[2] }]);
  });

  it('takes a moment, and a scope', async () => {
    const scope = randomUUID();
    const context = contextOf(testApp);
    const id = await writeEvent(context, { after: { scope } });
    await untilReadable(context);
    const since = testApp.clock.now.toISOString();

    const { data } = await ask<Stream>(stream, { since, scope, limit: 500 });
    expect(data.activityStream.events).toEqual([{ uuid: id, memory: null }]);
  });

  it.each(['yesterday', '2026-13-01', 'memoryEvent:1'])('refuses to begin at %s', async (since) => {
    const { errors } = await ask(stream, { since });

    expect(errors?.[0]).toMatchObject({ message: expect.stringContaining(since) as string });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_INPUT');
  });
});

const feed = `subscription ActivityTestFeed($filter: ActivityFilter, $after: String) {
  activity(filter: $filter, after: $after) { uuid eventType cause { eventType } consequences { eventType } memory { uuid } }
}`;

describe('the subscription activity', () => {
  it('tells what is committed, with all that belongs to it', async () => {
    const requestId = randomUUID();
    const context = contextOf(testApp, 'default', requestId);
    const follower = await subscribe(feed, { filter: { requestId, entityTypes: ['fact'] } });
    const stored = { subject: requestId, predicate: 'drinks' };
    const old = await storeFact(context, { ...stored, content: 'tea' });
    const next = await storeFact(context, { ...stored, content: 'coffee' });
    const events = (await take(follower, 3)).map(({ data }) => data?.activity);

    expect(events).toMatchObject([
      { eventType: 'fact.stored', cause: null, memory: { uuid: old.id } },
      { eventType: 'fact.superseded', cause: { eventType: 'fact.stored' }, memory: { uuid: old.id } },
      { eventType: 'fact.stored', memory: { uuid: next.id } },
    ]);
    expect(events[2]?.consequences?.map(({ eventType }) => eventType)).toEqual(['fact.superseded', 'link.created']);
  });

  it('reads hardly more often for 40 events that a client has missed than for 4', async () => {
    const { ids } = await writeOnRequest(41);
    const costOf = async (count: number): Promise<number> => {
      const counted = countReads();
      const follower = await subscribe(feed, { after: ids.at(-1 - count) }, counted.app);
      expect((await take(follower, count)).map(({ data }) => data?.activity.uuid)).toEqual(ids.slice(-count));
      return counted.reads();
    };

    // Now and then one more: the feed also looks by itself.
    const few = await costOf(4);
    expect(await costOf(40)).toBeLessThan(few + 5);
  });

  it('goes on after the id of an event, as its UUID and as its global id', async () => {
    const { ids } = await writeOnRequest(3);
    for (const after of [ids[0], `memoryEvent:${ids[0]}`]) {
      const seen = await take(await subscribe(feed, { after }), 2);
      expect(seen.map(({ data }) => data?.activity.uuid)).toEqual(ids.slice(1));
    }
  });

  it.each([
    ['an id that is none', 'last', 'INVALID_INPUT'],
    ['a global id of another type', `fact:${randomUUID()}`, 'INVALID_INPUT'],
    ['an event that is not there', randomUUID(), 'NOT_FOUND'],
    ['an event that is not there, by its global id', `memoryEvent:${randomUUID()}`, 'NOT_FOUND'],
  ])('refuses to go on after %s', async (_, after, code) => {
    const [answer] = await take(await subscribe(feed, { after }), 1);

    expect(answer?.errors?.[0]?.extensions.code).toBe(code);
    expectNoInternals(JSON.stringify(answer));
  });

  it('ends when the app stops', async () => {
    const app = createApp(testApp.core);
    const follower = await subscribe(feed, {}, app);
    const waiting = follower.next();
    await app.stop();

    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(app.createContext().activity.followerCount()).toBe(0);
  });

  it('is freed when its client hangs up', async () => {
    const app = createApp(testApp.core);
    const { activity } = app.createContext();
    const follower = await subscribe(feed, {}, app);
    const waiting = follower.next();
    expect(activity.followerCount()).toBe(1);
    await follower.return?.();

    await untilFollowers(activity, 0);
    expect(await waiting).toEqual({ done: true, value: undefined });
    await app.stop();
  });

  it('drops a client that reads nothing for too long, and tells it so when it reads again', async () => {
    const app = createApp(testApp.core, { standstillLimitMs: 50 });
    const { activity } = app.createContext();
    const { ids } = await writeOnRequest(20);
    const slow = await subscribe(feed, { after: ids[0] }, app);
    await untilFollowers(activity, 0);
    const answers = await take(slow, 20);
    await app.stop();

    expect(answers.length).toBeLessThan(19);
    expect(answers.at(-1)?.errors?.[0]).toMatchObject({
      message: expect.stringContaining('0.05 seconds') as string,
      extensions: { code: 'LIMIT_EXCEEDED', hint: expect.stringContaining('last event') as string },
    });
  });
});

describe('the subscription activity over server-sent events', () => {
  /** As a browser's EventSource asks, and what it takes from each frame. */
  const frames = async (count: number, after: string | undefined, lastEventId?: string): Promise<string[][]> => {
    const parameters = new URLSearchParams({ query: feed, variables: JSON.stringify({ after }) });
    const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
    const response = await testApp.app.fetch(new Request(`${origin}/graphql?${parameters}`, { headers }));
    const reader = response.body?.getReader();
    let text = '';
    while (text.split('event: next').length <= count || !text.endsWith('\n\n')) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) break;
      text += new TextDecoder().decode(chunk.value);
    }
    await reader?.cancel();
    const blocks = text.split('\n\n').filter((block) => block.startsWith('event: next'));
    return blocks.map((block) => block.split('\n').filter((line) => !line.startsWith('event: ')));
  };
  const frameOf = (id: string | undefined): unknown[] => [expect.stringContaining(`"uuid":"${id}"`), `id: ${id}`];

  it('names each event, so that a client can resume', async () => {
    const { ids } = await writeOnRequest(3);

    expect(await frames(2, ids[0])).toEqual([frameOf(ids[1]), frameOf(ids[2])]);
  });

  it('resumes after the Last-Event-ID, whatever the document said at first', async () => {
    const { ids } = await writeOnRequest(4);

    expect(await frames(1, ids[0], ids[2])).toEqual([frameOf(ids[3])]);
    expect(await frames(1, undefined, ids[2])).toEqual([frameOf(ids[3])]);
  });

  it('refuses a Last-Event-ID that is none', async () => {
    expect(JSON.stringify(await frames(1, undefined, 'nonsense'))).toContain('INVALID_INPUT');
  });
});

async function untilFollowers(activity: { followerCount(): number }, count: number): Promise<void> {
  while (activity.followerCount() !== count) await new Promise((resolve) => setImmediate(resolve));
}
