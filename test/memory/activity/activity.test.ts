import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, TenantClient } from '../../../src/db/database.ts';
import { listEvents, scanEvents } from '../../../src/db/queries/activity.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { createActivityFeed, type ActivityFeed } from '../../../src/memory/activity/activity-feed.ts';
import {
  checkFilter,
  countActivity,
  isMatch,
  listActivity,
  readActivity,
  type ActivityFilter,
  type EventRow,
} from '../../../src/memory/activity/activity.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { recordEvent } from '../../../src/memory/events.ts';
import { contextOf, followWithCuts, take, untilReadable, writeEvent, writeMany } from '../../support/activity.ts';
import { createTestApp, type TestApp } from '../../support/app.ts';
import { testEngine } from '../../support/database.ts';
import { forgetMemory, storeEpisode, storeFact, storeRule } from '../../support/writes.ts';

let testApp: TestApp;
let tenants = 0;

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

/** A tenant of its own for each test: nobody else's events are in it. */
const newContext = (): MemoryContext => contextOf(testApp, `tenant-${tenants++}`);
const idsOf = (events: EventRow[]): string[] => events.map(({ id }) => id);
const feedOf = (options: { standstillLimitMs?: number } = {}): ActivityFeed =>
  createActivityFeed({ logger: testApp.core.logger, ...options });
const asIds = { prepare: idsOf };

/** One write of each kind, and the filters that tell them apart. */
async function writeVariety(context: MemoryContext): Promise<{ events: EventRow[]; filters: ActivityFilter[] }> {
  const at = (hour: number): Date => new Date(Date.UTC(2026, 2, 1, hour));
  const asButler = { ...context, principal: { ...context.principal, butler: 'health', role: 'butler' as const } };
  const later = { ...context, now: () => at(15) };
  const onRequest = { ...context, requestContext: { ...context.requestContext, requestId: 'special' } };
  const episode = await storeEpisode(context, { content: 'The user ran.', butler: 'health' });
  const fact = { subject: 'user', predicate: 'sport', scope: 'health' };
  await storeFact(asButler, { ...fact, content: 'running', sourceEpisodeId: episode.id });
  const second = await storeFact(later, { ...fact, content: 'swimming' });
  await storeRule(onRequest, { content: 'Ask about sport.', scope: 'global' });
  await forgetMemory(context, { type: 'fact', id: second.id });
  const events = await listActivity(context, {}, { limit: 100, newestFirst: false });
  const filters: ActivityFilter[] = [
    { eventTypes: ['fact.stored'] },
    { eventTypes: ['fact.superseded', 'rule.stored'] },
    { eventTypes: [] },
    { entityTypes: ['link'] },
    { entityTypes: ['episode', 'rule'] },
    { entityId: second.id },
    { actor: 'butler:health' },
    { requestId: 'special' },
    { since: at(15) },
    { until: at(15) },
    { since: at(15), until: at(15) },
    { scope: 'health' },
    { scope: 'global' },
    { scope: 'nobody' },
    { sinceEventId: events[2]?.id ?? '' },
    { scope: 'health', entityTypes: ['fact'], until: at(15) },
  ];
  return { events, filters };
}

describe('the list of events', () => {
  it('is newest first, a page at a time', async () => {
    const context = newContext();
    const ids = await writeMany(context, 7, 1);
    const first = await listActivity(context, {}, { limit: 3 });
    const second = await listActivity(context, {}, { limit: 3, before: first.at(-1) });

    expect(idsOf([...first, ...second])).toEqual(ids.toReversed().slice(0, 6));
    expect(await countActivity(context)).toBe(7);
  });

  it('lets through what the filter wants, and says how many', async () => {
    const context = newContext();
    const { events } = await writeVariety(context);
    const list = async (filter: ActivityFilter): Promise<string[]> => {
      const found = await listActivity(context, filter, { limit: 100, newestFirst: false });
      expect(await countActivity(context, filter)).toBe(found.length);
      return found.map(({ eventType }) => eventType);
    };

    expect(await list({ entityTypes: ['rule', 'episode'] })).toEqual(['episode.stored', 'rule.stored']);
    expect(await list({ eventTypes: ['fact.stored', 'fact.superseded'] })).toEqual([
      'fact.stored',
      'fact.superseded',
      'fact.stored',
    ]);
    expect(await list({ actor: 'butler:health' })).toEqual(['fact.stored', 'link.created']);
    expect(await list({ requestId: 'special' })).toEqual(['rule.stored']);
    expect(await list({ scope: 'global' })).toEqual(['rule.stored']);
    // The links of a fact are of its scope.
    expect(await list({ scope: 'health' })).toEqual(
      events.map(({ eventType }) => eventType).filter((type) => !/rule|embedding/.test(type)),
    );
    expect(await list({ sinceEventId: events.at(-2)?.id })).toEqual(['fact.retracted']);
    expect(await list({ since: new Date('2026-03-01T15:00:00Z') })).toContain('fact.superseded');
    expect(await list({ until: new Date('2026-03-01T15:00:00Z') })).not.toContain('fact.superseded');
  });

  it('is filtered in the database as it is in the feed', async () => {
    const context = newContext();
    const { events, filters } = await writeVariety(context);

    for (const filter of filters) {
      const conditions = await checkFilter(context, filter);
      const listed = await listActivity(context, filter, { limit: 100, newestFirst: false });
      expect(idsOf(events.filter((event) => isMatch(event, conditions))), JSON.stringify(filter)).toEqual(
        idsOf(listed),
      );
    }
    expect(filters.length).toBeGreaterThan(10);
  });

  it.each<[string, ActivityFilter, string, RegExp]>([
    ['an event type that is none', { eventTypes: ['Stored'] }, 'INVALID_INPUT', /event_types must be .*"Stored"/],
    [
      'an event type that there is not',
      { eventTypes: ['fact.stored', 'nope.never'] },
      'INVALID_INPUT',
      /event_types must be one of episode.stored, .*fact.superseded, .*tenant.entered \(got "nope.never"/,
    ],
    [
      'an entity type that is none',
      { entityTypes: ['memory'] },
      'INVALID_INPUT',
      /entity_types must be one of .*"memory"/,
    ],
    ['too many types', { eventTypes: Array<string>(51).fill('a.b') }, 'INVALID_INPUT', /at most 50 \(got 51/],
    ['an event id that is none', { sinceEventId: 'last' }, 'INVALID_INPUT', /since_event_id must be .*got "last"/],
    ['an event that is not there', { sinceEventId: randomUUID() }, 'NOT_FOUND', /since_event_id: event .* not there/],
    ['a scope of control characters', { scope: 'a\u0007b' }, 'INVALID_INPUT', /scope must be /],
  ])('refuses %s', async (_, filter, code, message) => {
    await expect(listActivity(newContext(), filter)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });

  it('shows nothing of another tenant, even to one who knows its ids', async () => {
    const [ours, theirs] = [newContext(), newContext()];
    const id = await writeEvent(theirs);
    await writeEvent(ours);

    expect(await listActivity(ours, { sinceEventId: null })).toHaveLength(1);
    await expect(listActivity(ours, { sinceEventId: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(readActivity(ours, { since: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('reading on', () => {
  it('from place to place sees every event once, oldest first', async () => {
    const context = newContext();
    const start = await readActivity(context);
    const ids = await writeMany(context, 25, 1);
    await untilReadable(context);
    const seen: string[] = [];
    let since = start.resumeFrom;
    for (let hasMore = true; hasMore;) {
      const read = await readActivity(context, { since, limit: 10 });
      seen.push(...idsOf(read.events));
      since = read.resumeFrom;
      ({ hasMore } = read);
    }

    expect(seen).toEqual(ids);
    expect((await readActivity(context, { since })).events).toEqual([]);
    expect(start.events).toEqual([]);
  });

  it('begins after an event, at a moment, or with the latest', async () => {
    const context = newContext();
    const old = { ...context, now: () => new Date('2026-02-01T00:00:00Z') };
    await writeEvent(old);
    const [second, third] = [await writeEvent(context), await writeEvent(context)];
    await writeEvent(old);
    await untilReadable(context);

    const afterSecond = await readActivity(context, { since: second });
    expect(idsOf(afterSecond.events)).toContain(third);
    expect(afterSecond.events).toHaveLength(2);
    expect(idsOf((await readActivity(context, { since: new Date('2026-02-15T00:00:00Z') })).events)).toEqual([
      second,
      third,
    ]);
    expect((await readActivity(context, { since: new Date('2027-01-01T00:00:00Z') })).events).toEqual([]);
    expect(idsOf((await readActivity(context, { limit: 3 })).events).slice(0, 2)).toEqual([second, third]);
  });

  it('moves on past events that the filter leaves out', async () => {
    const context = newContext();
    const { resumeFrom } = await readActivity(context);
    await writeMany(context, 3, 1);
    const wanted = await writeEvent(context, { after: { scope: 'health' } });
    await untilReadable(context);
    const read = await readActivity(context, { since: resumeFrom, scope: 'health' });
    const again = await readActivity(context, { since: read.resumeFrom });

    expect(idsOf(read.events)).toEqual([wanted]);
    expect(again.events).toEqual([]);
  });

  it.each([0, 501, Number.NaN])('refuses a limit of %s', async (limit) => {
    await expect(readActivity(newContext(), { limit })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it.runIf(testEngine === 'postgres')('stops at an open transaction, and goes on when it ends', async () => {
    const context = newContext();
    const { resumeFrom: since } = await readActivity(context);
    const older = await openTransaction(context);
    const newer = await writeEvent(context);
    const before = await readActivity(context, { since });
    const listed = await listActivity(context);
    await older.commit();
    await untilReadable(context);
    const after = await readActivity(context, { since: before.resumeFrom });

    expect(before).toMatchObject({ events: [], hasMore: false });
    expect(idsOf(listed)).toEqual([newer]);
    expect(idsOf(after.events)).toEqual([older.eventId, newer]);
  });
});

/** A transaction that has written its event and stays open until it is told to commit. */
async function openTransaction(context: MemoryContext): Promise<{ eventId: string; commit: () => Promise<void> }> {
  const eventId = randomUUID();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let committed: Promise<unknown> = Promise.resolve();
  await new Promise<void>((written, failed) => {
    committed = context.db.transaction(async (transaction) => {
      const event = { id: eventId, eventType: 'fact.stored', entityType: 'fact', entityId: randomUUID() } as const;
      await recordEvent(context, transaction, event);
      written();
      await released;
    });
    committed.catch(failed);
  });
  return {
    eventId,
    commit: async () => {
      release();
      await committed;
    },
  };
}

describe('the feed', () => {
  it('begins now, and hands out what is committed from then on', async () => {
    const context = newContext();
    await writeEvent(context);
    const feed = feedOf();
    const follower = await feed.follow(context, asIds);
    const id = await writeEvent(context);

    expect(await take(follower, 1)).toEqual([id]);
    feed.close();
  });

  it('hands every event once to clients that are cut off while 1000 writes run', async () => {
    const context = newContext();
    const first = await writeEvent(context);
    const feed = feedOf();
    const openFeed = (after = first): Promise<AsyncIterableIterator<string>> =>
      feed.follow(context, { after, ...asIds });
    const writing = writeMany(context, 1000, 5);
    const clients = await Promise.all([1, 2, 3].map(() => followWithCuts(1000, openFeed)));
    const written = await writing;

    for (const { seen, connections } of clients) {
      expect(connections).toBeGreaterThan(10);
      expect(seen).toHaveLength(1000);
      expect(new Set(seen)).toEqual(new Set(written));
    }
    // All in the same order, which is that of the table.
    const listed = await readActivity(context, { since: first, limit: 500 });
    for (const { seen } of clients) expect(seen.slice(0, 500)).toEqual(idsOf(listed.events));
    expect(feed.followerCount()).toBe(0);
    feed.close();
  });

  it('serves who is far behind from the table', async () => {
    const context = newContext();
    const first = await writeEvent(context);
    const feed = feedOf();
    const upToDate = await feed.follow(context, asIds);
    const ids = await writeMany(context, 450, 3);
    const behind = await feed.follow(context, { after: first, ...asIds });
    const seen = await take(behind, 450);

    expect(new Set(seen)).toEqual(new Set(ids));
    expect(await take(upToDate, 450)).toEqual(seen);
    feed.close();
  });

  it('hands out only what the filter wants, early and late', async () => {
    const context = newContext();
    const first = await writeEvent(context);
    const feed = feedOf();
    const filter = { scope: 'health' };
    const early = await feed.follow(context, { filter, ...asIds });
    await writeEvent(context);
    const wanted = await writeEvent(context, { after: { scope: 'health' } });
    const late = await feed.follow(context, { filter, after: first, ...asIds });

    expect(await take(early, 1)).toEqual([wanted]);
    expect(await take(late, 1)).toEqual([wanted]);
    feed.close();
  });

  it('tells nobody the events of another tenant', async () => {
    const [ours, theirs] = [newContext(), newContext()];
    const feed = feedOf();
    const follower = await feed.follow(ours, asIds);
    const foreignId = await writeEvent(theirs);
    const id = await writeEvent(ours);

    expect(await take(follower, 1)).toEqual([id]);
    await expect(feed.follow(ours, { after: foreignId, ...asIds })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    feed.close();
  });

  it('hands out nothing of a transaction that rolls back', async () => {
    const context = newContext();
    const feed = feedOf();
    const follower = await feed.follow(context, asIds);
    const rolledBack = context.db.transaction(async (transaction) => {
      await recordEvent(context, transaction, { eventType: 'fact.stored', entityType: 'fact', entityId: randomUUID() });
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    const id = await writeEvent(context);

    expect(await take(follower, 1)).toEqual([id]);
    feed.close();
  });

  it.runIf(testEngine === 'postgres')(
    'passes no event whose transaction commits late, and none comes twice',
    async () => {
      const context = newContext();
      const feed = feedOf();
      const earlier = await writeEvent(context);
      const older = await openTransaction(context);
      const heldBack = await writeEvent(context);
      const fromNow = await feed.follow(context, asIds);
      const resumed = await feed.follow(context, { after: earlier, ...asIds });
      const newest = await writeEvent(context);
      await older.commit();

      expect(await take(resumed, 3)).toEqual([older.eventId, heldBack, newest]);
      // What was committed before it began is not its business, although nobody could read it by then.
      expect(await take(fromNow, 2)).toEqual([older.eventId, newest]);
      feed.close();
    },
  );

  it.runIf(testEngine === 'postgres')('goes on when an old transaction ends that tells nobody', async () => {
    const context = newContext();
    const feed = feedOf();
    const follower = await feed.follow(context, asIds);
    let id = '';
    await testApp.core.db.asOwner(async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT pg_current_xact_id()');
      id = await writeEvent(context);
      await client.query('ROLLBACK');
    });

    expect(await take(follower, 1)).toEqual([id]);
    feed.close();
  });

  it('costs 50 followers that are up to date one read, not 50', async () => {
    const context = newContext();
    let reads = 0;
    const { db } = context;
    const counted = {
      ...db,
      get client() {
        reads++;
        return db.client;
      },
    };
    const feed = feedOf();
    const watching = { ...context, db: counted };
    const followers = await Promise.all(Array.from({ length: 50 }, () => feed.follow(watching, asIds)));
    const waiting = followers.map((follower) => follower.next());
    const readsBefore = reads;
    const id = await writeEvent(context);

    for (const { value } of await Promise.all(waiting)) expect(value).toBe(id);
    expect(reads - readsBefore).toBeLessThan(10);
    feed.close();
  });

  it('frees all that belongs to a follower that hangs up, even one that waits', async () => {
    const context = newContext();
    const listeners = new Set<() => void>();
    const { db } = testApp.core;
    const watched: Database = {
      ...db,
      events: {
        subscribe: (tenantId, listener) => {
          listeners.add(listener);
          const stop = db.events.subscribe(tenantId, listener);
          return () => (listeners.delete(listener), stop());
        },
      },
    };
    const feed = feedOf();
    const watching = { ...context, db: { ...context.db, database: watched } };
    const [waits, neverAsked] = [await feed.follow(watching, asIds), await feed.follow(watching, asIds)];
    const pending = waits.next();
    expect([feed.followerCount(), listeners.size]).toEqual([2, 1]);
    await waits.return?.();
    await neverAsked.return?.();

    expect(await pending).toEqual({ done: true, value: undefined });
    expect([feed.followerCount(), listeners.size]).toEqual([0, 0]);
    expect(await waits.next()).toEqual({ done: true, value: undefined });
  });

  it('drops a follower that takes nothing for too long, tells it why, and goes on for the others', async () => {
    const context = newContext();
    const feed = feedOf({ standstillLimitMs: 50 });
    const slow = await feed.follow(context, asIds);
    const firstOfSlow = slow.next();
    const quick = await feed.follow(context, asIds);
    const firstOfQuick = quick.next();
    const first = await writeEvent(context);
    expect(await firstOfQuick).toMatchObject({ value: first });
    const secondOfQuick = quick.next();
    expect(await firstOfSlow).toMatchObject({ value: first });
    const second = await writeEvent(context);
    expect(await secondOfQuick).toMatchObject({ value: second });
    const goesOn = quick.next();
    await untilFollowers(feed, 1);
    const third = await writeEvent(context);

    expect(await goesOn).toMatchObject({ value: third });
    await expect(slow.next()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', message: /0.05 seconds/ });
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    feed.close();
  });

  it('ends for all when it is closed, and takes no one after that', async () => {
    const context = newContext();
    const feed = feedOf();
    const waiting = (await feed.follow(context, asIds)).next();
    feed.close();

    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(feed.followerCount()).toBe(0);
    await expect(feed.follow(context, asIds)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
});

async function untilFollowers(feed: ActivityFeed, count: number): Promise<void> {
  while (feed.followerCount() !== count) await new Promise((resolve) => setImmediate(resolve));
}

describe('the statements of the feed', () => {
  /** Returns the plan of the statement that a query sends. */
  const explain = async (
    { db: { client } }: MemoryContext,
    query: (client: TenantClient) => Promise<unknown>,
  ): Promise<unknown> => {
    let plan: unknown;
    const explaining = {
      tenantId: client.tenantId,
      $queryRaw: async (strings: readonly string[], ...values: unknown[]) => {
        plan = await client.$queryRaw(Prisma.sql`EXPLAIN (FORMAT JSON) ${new Prisma.Sql(strings, values)}`);
        return [];
      },
    };
    await query(explaining as unknown as TenantClient);
    return plan;
  };

  /** What reads events in a plan. Small tables beside them are scanned whole once the server has counted their rows. */
  const scansOfEvents = (plan: unknown): unknown[] => {
    if (typeof plan !== 'object' || plan === null) return [];
    const inner = Object.values(plan).flatMap(scansOfEvents);
    return 'Relation Name' in plan && plan['Relation Name'] === 'memory_events' ? [plan, ...inner] : inner;
  };

  it('are served by the index of positions', async () => {
    const context = newContext();
    const { tenantId } = context.principal;
    await testApp.core.db.asOwner(async (client) => {
      await client.query(
        `INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id, payload)
         SELECT $1, gen_random_uuid(), 'fact.stored', 'fact', n::text, now(), 'operator', 'r', '{"after":{"scope":"a"}}'
         FROM generate_series(1, 20000) n`,
        [tenantId],
      );
      await client.query('ANALYZE');
    });
    const { resumeFrom } = await readActivity(context);
    const [transactionId = '0'] = resumeFrom.split('.');
    const after = { transactionId: BigInt(transactionId), sequence: 0n };
    const plans = [
      await explain(context, (client) => scanEvents(client, { scope: 'a' }, { after, limit: 100, scanLimit: 1000 })),
      await explain(context, (client) =>
        scanEvents(client, {}, { after: { ...after, transactionId: 0n }, limit: 9, scanLimit: 9 }),
      ),
      await explain(context, (client) => listEvents(client, { before: after }, { limit: 50, newestFirst: true })),
    ];

    for (const plan of plans) {
      const scans = scansOfEvents(plan);
      expect(scans).not.toEqual([]);
      for (const scan of scans) {
        expect(scan).toMatchObject({
          'Node Type': expect.stringMatching(/^Index (Only )?Scan$/) as string,
          'Index Name': 'memory_events_by_position',
        });
      }
    }
  });
});
