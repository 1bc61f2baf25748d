import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retryableCodes } from '../../src/shared/errors.ts';
import { followWithCuts } from '../support/activity.ts';
import { drill } from '../support/drill.ts';
import { openEventStream, openSocketFeed, type FeedAnswer } from '../support/feeds.ts';
import { requestGraphQL } from '../support/graphql-request.ts';
import {
  createServerHome,
  startServerProcess,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

let home: ServerHome;
let server: ServerProcess;

beforeAll(async () => {
  home = await createServerHome();
  // Were a feed to hold up the end, it would be for longer than the test may take.
  await writeFile(join(home.directory, 'butler.toml'), '[butler]\nshutdown_grace_seconds = 600\n');
  server = await startServerProcess({ home, env: { BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing' } });
  await server.logged('ready');
});
afterAll(async () => {
  await server.kill9();
  await home.remove();
});

const feed = `subscription ServerActivityFeed($filter: ActivityFilter, $after: String) {
  activity(filter: $filter, after: $after) { uuid }
}`;

interface Seen {
  activity: { uuid: string };
}
type Feed = AsyncIterableIterator<FeedAnswer<Seen>>;

const transports: [string, (variables: object) => Promise<Feed>][] = [
  ['server-sent events', (variables) => openEventStream(fetch, server.url, feed, { ...variables })],
  ['graphql-ws', async (variables) => openSocketFeed(server.url, feed, { ...variables })],
];

const store = `mutation ServerActivityStore($butler: String!, $key: String!) {
  storeEpisode(input: { content: "The tea was served.", butler: $butler, idempotencyKey: $key }) { __typename }
}`;

async function storeMany(butler: string, count: number, writers: number): Promise<void> {
  const write = async (): Promise<void> => {
    for (let index = 0; index < count / writers; index++) await storeOne(butler, randomUUID());
  };
  await Promise.all(Array.from({ length: writers }, write));
}

/** Sends a write again as long as the server is busy, as a client would: its key lets it happen once. */
async function storeOne(butler: string, key: string): Promise<void> {
  const { errors } = await requestGraphQL(fetch, server.url, store, { butler, key });
  if (errors === undefined) return;
  const code = errors[0]?.extensions?.['code'];
  if (typeof code !== 'string' || !retryableCodes.has(code)) throw new Error(JSON.stringify(errors));
  await setTimeout(retryAfterMs);
  await storeOne(butler, key);
}

const retryAfterMs = 100;

interface Page {
  activity: { totalCount: number; edges: { cursor: string; node: { uuid: string } }[] };
}

/** Newest first, as the server lists them in the end. */
async function listAll(filter: object): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const { data } = await requestGraphQL<Page>(
      fetch,
      server.url,
      `query ServerActivityList($filter: ActivityFilter, $after: String) {
        activity(filter: $filter, first: 500, after: $after) { totalCount edges { cursor node { uuid } } }
      }`,
      { filter, after },
    );
    ids.push(...data.activity.edges.map(({ node }) => node.uuid));
    after = data.activity.edges.at(-1)?.cursor;
    if (after === undefined || ids.length === data.activity.totalCount) return ids;
  }
}

const uuidOf = ({ data }: FeedAnswer<Seen>): string => data?.activity.uuid ?? 'nothing';

function asUuids(events: Feed): AsyncIterableIterator<string> {
  const uuids: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => uuids,
    next: async () => {
      const { done, value } = await events.next();
      return done ? { done, value: undefined } : { done: false, value: uuidOf(value) };
    },
    return: async () => {
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
  return uuids;
}

/** A client is cut off after 49 events on average. */
const writes = drill({ sample: 200, all: 1000 });

describe.each(transports)('the activity feed over %s', (name, open) => {
  it(`tells a client that is cut off again and again every event once, while ${writes} writes run`, async () => {
    const butler = name;
    await storeMany(butler, 1, 1);
    const filter = { scope: butler, eventTypes: ['episode.stored'] };
    const [first] = await listAll(filter);
    const [{ seen, connections }] = await Promise.all([
      followWithCuts(writes, async (after = first) => asUuids(await open({ filter, after }))),
      storeMany(butler, writes, 4),
    ]);

    expect(connections).toBeGreaterThan(writes / 100);
    expect([first, ...seen]).toEqual((await listAll(filter)).toReversed());
    expect(new Set(seen).size).toBe(writes);
  });

  it('ends with an error that can be read when the place to go on from is not known', async () => {
    const events = await open({ after: '00000000-0000-4000-8000-000000000000' });
    const { value } = await events.next();
    await events.return?.();

    expect((value as FeedAnswer).errors?.[0]).toMatchObject({
      message: expect.stringContaining('is not there') as string,
      extensions: { code: 'NOT_FOUND' },
    });
  });
});

describe('a server that stops', () => {
  // The limit is below the grace: a stop that waits for the feeds fails by it.
  it('ends its feeds at once, and leaves nothing on standard error', { timeout: 540_000 }, async () => {
    // Of nobody's events: those that the writes above led to, such as consolidation, may still come.
    const filter = { scope: 'nobody' };
    const feeds = await Promise.all(transports.map(([, open]) => open({ filter })));
    const ends = feeds.map((events) =>
      events.next().then(
        ({ done }) => done,
        () => true,
      ),
    );
    // Answered over the same process, so both subscriptions have begun or will be refused.
    await requestGraphQL(fetch, server.url, '{ health { status } }');
    const exit = await server.stop();

    expect(await Promise.all(ends)).toEqual([true, true]);
    expect(exit).toBe(0);
    expect(server.errors()).toBe('');
    expect(server.logs().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });
});
