import type { Logger } from 'pino';
import type { TenantDatabase } from '../../db/database.ts';
import { findHorizon, type EventConditions } from '../../db/queries/activity.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { onlyButlerOf } from '../reach.ts';
import { ActivityTail } from './activity-tail.ts';
import {
  checkFilter,
  getPosition,
  isMatch,
  scanActivity,
  type ActivityFilter,
  type ActivityScan,
  type EventPosition,
  type EventRow,
} from './activity.ts';

export interface ActivityFeedOptions extends ActivityFeedTimes {
  logger: Logger;
}

export interface ActivityFeedTimes {
  /** A follower that takes no event for this long is dropped. */
  standstillLimitMs?: number;
  /** How often the table is read when no commit was announced. */
  pollIntervalMs?: number;
}

export interface FollowOptions<Item> {
  filter?: ActivityFilter | null | undefined;
  /** Id of the last event that was seen, or a position. Without it, the events from now on are followed. */
  after?: string | null | undefined;
  /** Turns the events of one read into items, one for each, so that related rows are loaded once a read. */
  prepare: (events: EventRow[]) => Item[] | Promise<Item[]>;
}

/**
 * Events as they are committed. Each follower reads on from its own position when it is asked for the next event, so a
 * slow one holds at most a page. Followers that are up to date and have the same reach share the reads of one tail.
 */
export interface ActivityFeed {
  /** Resolves when the start position is fixed: no event that is committed after that is missed. */
  follow<Item>(context: MemoryContext, options: FollowOptions<Item>): Promise<AsyncIterableIterator<Item>>;
  followerCount(): number;
  /** Ends all followers. */
  close(): void;
}

/** Small, because an event may carry a memory twice, and each follower that is behind holds a page. */
const pageLimit = 50;

interface SharedTail {
  tail: ActivityTail;
  /** One for each follower: aborting it ends the follower. */
  followers: Set<AbortController>;
}

export function createActivityFeed(options: ActivityFeedOptions): ActivityFeed {
  const { logger, standstillLimitMs = 30_000, pollIntervalMs = 2000 } = options;
  const tails = new Map<string, SharedTail>();
  const listFollowers = (): AbortController[] => [...tails.values()].flatMap(({ followers }) => [...followers]);
  let isClosed = false;

  /** Adds a follower to the tail of its reach, until it is aborted. The tail is closed with its last follower. */
  const join = (context: MemoryContext, start: EventPosition, follower: AbortController): ActivityTail => {
    const { db } = context;
    const reach = JSON.stringify([db.tenantId, onlyButlerOf(context)]);
    const shared = tails.get(reach) ?? {
      tail: new ActivityTail({ db, logger, start, pollIntervalMs }),
      followers: new Set(),
    };
    tails.set(reach, shared);
    shared.followers.add(follower);
    follower.signal.addEventListener('abort', () => {
      shared.followers.delete(follower);
      if (shared.followers.size > 0) return;
      shared.tail.close();
      tails.delete(reach);
    });
    return shared.tail;
  };

  return {
    follow: async (context, { filter, after, prepare }) => {
      const { db } = context;
      const conditions = await checkFilter(context, filter ?? {});
      const horizon = await findHorizon(db.client);
      const position = after ? await getPosition(context, 'after', after) : horizon.position;
      if (isClosed) throw new MemoryError('DATABASE_UNAVAILABLE', 'the server is stopping', { hint: 'Connect again.' });
      const follower = new AbortController();
      const tail = join(context, horizon.position, follower);
      // Committed before now, although they can be read only after an older transaction ends.
      const skippedIds = new Set(after ? [] : horizon.heldBackIds);
      const items = readOn({ db, tail, conditions, position, skippedIds, prepare }, follower);
      return endWithConsumer(items, follower, standstillLimitMs);
    },
    followerCount: () => listFollowers().length,
    close: () => {
      isClosed = true;
      for (const follower of listFollowers()) follower.abort();
    },
  };
}

interface Reading<Item> {
  db: TenantDatabase;
  tail: ActivityTail;
  conditions: EventConditions;
  position: EventPosition;
  skippedIds: Set<string>;
  prepare: (events: EventRow[]) => Item[] | Promise<Item[]>;
}

/** Yields the events after the position, then waits for more, until the follower is aborted. Aborts it on failure. */
async function* readOn<Item>(reading: Reading<Item>, follower: AbortController): AsyncGenerator<Item, undefined> {
  const { tail, skippedIds, prepare } = reading;
  const { signal } = follower;
  let { position } = reading;
  try {
    while (!signal.aborted) {
      const page = await readPage(reading, position);
      ({ position } = page);
      const wanted = page.events.filter(({ id }) => !skippedIds.delete(id));
      for (const item of wanted.length === 0 ? [] : await prepare(wanted)) {
        if (signal.aborted) break;
        yield item;
      }
      if (page.isComplete) await tail.waitBeyond(position, signal);
    }
    if (signal.reason instanceof MemoryError) throw signal.reason;
  } finally {
    follower.abort();
  }
}

type Page = Pick<ActivityScan, 'events' | 'position' | 'isComplete'>;

async function readPage({ db, tail, conditions }: Reading<unknown>, position: EventPosition): Promise<Page> {
  const recent = tail.readAfter(position);
  if (recent === undefined) return scanActivity({ db, conditions }, position, pageLimit);
  const events = recent.events.filter((event) => isMatch(event, conditions));
  return { ...recent, events, isComplete: true };
}

/**
 * Ends the generator with its consumer. `return` aborts the follower first, because a generator that waits for an event
 * cannot end before the next one. A consumer that takes no item within the limit is dropped, and told so by its next call.
 */
function endWithConsumer<Item>(
  items: AsyncGenerator<Item, undefined>,
  follower: AbortController,
  limitMs: number,
): AsyncIterableIterator<Item> {
  const startTimer = (): NodeJS.Timeout => setTimeout(() => follower.abort(tooSlow(limitMs)), limitMs).unref();
  let timer = startTimer();
  follower.signal.addEventListener('abort', () => clearTimeout(timer));
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => {
      clearTimeout(timer);
      const result = await items.next();
      if (!follower.signal.aborted) timer = startTimer();
      return result;
    },
    return: async () => {
      follower.abort();
      return items.return(undefined);
    },
  };
}

function tooSlow(limitMs: number): MemoryError {
  return new MemoryError(
    'LIMIT_EXCEEDED',
    `an event of the feed may wait at most ${limitMs / 1000} seconds to be taken; this feed took none for longer and was ended`,
    { hint: 'Subscribe again with the id of the last event that was seen: none is lost.' },
  );
}
