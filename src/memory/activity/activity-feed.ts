import type { Logger } from 'pino';
import type { TenantDatabase } from '../../db/database.ts';
import type { EventConditions } from '../../db/sql/select-events.ts';
import { MemoryError } from '../../shared/errors.ts';
import { ActivityTail } from './activity-tail.ts';
import {
  conditionsOf,
  findHorizon,
  getPosition,
  isMatch,
  scanActivity,
  type ActivityFilter,
  type EventPosition,
  type EventRow,
} from './activity.ts';
import type { MemoryContext } from '../context.ts';
import { onlyButlerOf } from '../reach.ts';

export interface ActivityFeedOptions extends ActivityFeedTimes {
  logger: Logger;
}

export interface ActivityFeedTimes {
  /** How long a follower may leave an event untaken before it is dropped. */
  standstillLimitMs?: number;
  /** How often the table is looked at when nothing was heard. */
  pollIntervalMs?: number;
}

export interface FollowOptions<Item> {
  filter?: ActivityFilter | null | undefined;
  /** Id of the last event that was seen, or a position. Without it, the events from now on are followed. */
  after?: string | null | undefined;
  /** Turns the events of one read into what is handed out, one for each, so that what belongs to them is read once. */
  prepare: (events: EventRow[]) => Item[] | Promise<Item[]>;
}

/**
 * Events as they are committed. Each follower reads on from its own position when it is asked for the next event, so a
 * slow one costs nothing; all that are up to date and see the same share the reads of one tail.
 */
export interface ActivityFeed {
  /** Resolves when the place to begin is fixed: what is committed after that is not missed. */
  follow<Item>(context: MemoryContext, options: FollowOptions<Item>): Promise<AsyncIterableIterator<Item>>;
  followerCount(): number;
  /** Ends all that follow. */
  close(): void;
}

/** Small, as an event may carry a memory twice, and each follower that is behind holds a page. */
const pageLimit = 50;

export function createActivityFeed(options: ActivityFeedOptions): ActivityFeed {
  const { logger, standstillLimitMs = 30_000, pollIntervalMs = 2000 } = options;
  const tails = new Map<string, { tail: ActivityTail; followers: Set<Follower<unknown>> }>();

  const join = (
    { db }: MemoryContext,
    reach: string,
    start: EventPosition,
  ): { tail: ActivityTail; followers: Set<Follower<unknown>> } => {
    const joined = tails.get(reach) ?? {
      tail: new ActivityTail({ db, logger, start, pollIntervalMs }),
      followers: new Set(),
    };
    tails.set(reach, joined);
    return joined;
  };
  const leave = (reach: string, follower: Follower<unknown>): void => {
    const joined = tails.get(reach);
    if (!joined?.followers.delete(follower) || joined.followers.size > 0) return;
    joined.tail.close();
    tails.delete(reach);
  };
  const all = (): Follower<unknown>[] => [...tails.values()].flatMap(({ followers }) => [...followers]);
  let isClosed = false;

  return {
    follow: async (context, { filter, after, prepare }) => {
      const { db } = context;
      const conditions = await conditionsOf(context, filter ?? {});
      const horizon = await findHorizon(db);
      const position = after ? await getPosition(context, 'after', after) : horizon.position;
      if (isClosed) throw new MemoryError('DATABASE_UNAVAILABLE', 'the server is stopping', { hint: 'Connect again.' });
      const reach = JSON.stringify([db.tenantId, onlyButlerOf(context)]);
      const { tail, followers } = join(context, reach, horizon.position);
      const follower = new Follower({
        db,
        tail,
        conditions,
        position,
        // Committed before now, but only to be read after it.
        skippedIds: new Set(after ? [] : horizon.heldBackIds),
        prepare,
        standstillLimitMs,
        leave: () => leave(reach, follower),
      });
      followers.add(follower);
      return follower;
    },
    followerCount: () => all().length,
    close: () => {
      isClosed = true;
      for (const follower of all()) follower.end();
    },
  };
}

interface FollowerOptions<Item> {
  db: TenantDatabase;
  tail: ActivityTail;
  conditions: EventConditions;
  position: EventPosition;
  skippedIds: Set<string>;
  prepare: (events: EventRow[]) => Item[] | Promise<Item[]>;
  standstillLimitMs: number;
  leave: () => void;
}

/** An iterator by hand: a generator that waits for an event could not be told that nobody wants it any more. */
class Follower<Item> implements AsyncIterableIterator<Item> {
  readonly #options: FollowerOptions<Item>;
  readonly #ending = new AbortController();
  readonly #items: AsyncGenerator<Item, undefined>;
  #standstill: NodeJS.Timeout | undefined;
  #problem: MemoryError | undefined;

  constructor(options: FollowerOptions<Item>) {
    this.#options = options;
    this.#items = this.#readOn();
    this.#watch();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    clearTimeout(this.#standstill);
    this.#refuseDropped();
    try {
      const result = await this.#items.next();
      if (result.done) this.end();
      else this.#watch();
      return result;
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.end();
    return this.#items.return(undefined);
  }

  end(): void {
    clearTimeout(this.#standstill);
    this.#ending.abort();
    this.#options.leave();
  }

  /** Told once, to a follower that comes back for more after it was dropped. */
  #refuseDropped(): void {
    const problem = this.#problem;
    this.#problem = undefined;
    if (problem !== undefined) throw problem;
  }

  #watch(): void {
    if (this.#ending.signal.aborted) return;
    const { standstillLimitMs } = this.#options;
    this.#standstill = setTimeout(() => {
      this.#problem = tooSlow(standstillLimitMs);
      this.end();
    }, standstillLimitMs).unref();
  }

  async *#readOn(): AsyncGenerator<Item, undefined> {
    const { tail, skippedIds, prepare } = this.#options;
    const { signal } = this.#ending;
    let { position } = this.#options;
    while (!signal.aborted) {
      const page = await this.#readPage(position);
      ({ position } = page);
      const wanted = page.events.filter(({ id }) => !skippedIds.delete(id));
      for (const item of wanted.length === 0 ? [] : await prepare(wanted)) {
        if (signal.aborted) return;
        yield item;
      }
      if (page.isComplete) await tail.waitBeyond(position, signal);
    }
  }

  async #readPage(
    position: EventPosition,
  ): Promise<{ events: EventRow[]; position: EventPosition; isComplete: boolean }> {
    const { db, tail, conditions } = this.#options;
    const known = tail.readAfter(position);
    if (known === undefined) return scanActivity({ db, conditions }, position, pageLimit);
    const events = known.events.filter((event) => isMatch(event, conditions));
    return { ...known, events, isComplete: true };
  }
}

function tooSlow(limitMs: number): MemoryError {
  return new MemoryError(
    'LIMIT_EXCEEDED',
    `an event of the feed may wait at most ${limitMs / 1000} seconds to be taken; this feed took none for longer and was ended`,
    { hint: 'Subscribe again with the id of the last event that was seen: none is lost.' },
  );
}
