import { LRUCache } from 'lru-cache';
import { hashToken } from '../auth/tokens.ts';
import type { Config } from '../config/schema.ts';
import { withDeadline } from './deadline.ts';
import { LimitError, type LimitReason } from './limit-error.ts';
import { createPlaces, type Places, type Release } from './places.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** How much callers, each by its key, and all of them together may ask of this process. What is too much throws a LimitError. */
export interface Limits {
  readonly settings: Config['limits'];
  /** A place for one more request, whoever sends it: to find out who that is costs something too. */
  enter(): Release;
  /** Refuses whoever came with this header before and has no request left, before anybody looks the header up. */
  recognize(authorization: string | null): void;
  /** One request of the caller's, who came with this header if it came with any. */
  spend(caller: string, authorization?: string | null): void;
  /** The work of a request, for as long as one may take. `leave` gives its place back when the work has ended. */
  run<T>(caller: string, leave: Release, work: () => Promise<T>): Promise<T>;
  openFeed(caller: string): Release;
  openSocket(caller: string): Release;
}

interface Sources {
  config: Pick<Config, 'limits'>;
  now: () => Date;
  /** Told of each refusal. */
  refused: (reason: LimitReason) => void;
}

/** Of places that nobody can say when they are free. */
const requestRetrySeconds = 1;
const feedRetrySeconds = 5;

const everyone = '';
const headersKept = 10_000;

export function createLimits({ config, now, refused }: Sources): Limits {
  const settings = { ...config.limits };
  const {
    requestsPerMinute: perMinute,
    burst,
    maxConcurrentPerCaller,
    maxConcurrent,
    requestTimeoutSeconds,
  } = settings;
  const buckets = createTokenBuckets({ perMinute, burst, now });
  const requests = createPlaces(maxConcurrent);
  const ownRequests = createPlaces(maxConcurrentPerCaller);
  const callersByHeader = new LRUCache<string, string>({ max: headersKept });
  const refusal = (reason: LimitReason, message: string, retryAfterSeconds: number): LimitError => {
    refused(reason);
    return new LimitError(reason, message, retryAfterSeconds);
  };
  const checkWait = (seconds: number): void => {
    if (seconds > 0)
      throw refusal('rate', `requests: at most ${perMinute} a minute of one caller; given more`, seconds);
  };
  return {
    settings,
    enter: () => {
      const leave = requests.take(everyone);
      if (leave !== undefined) return leave;
      throw refusal('requests', describePlaces('requests under way', maxConcurrent), requestRetrySeconds);
    },
    recognize: (authorization) => {
      const caller = authorization === null ? undefined : callersByHeader.get(hashToken(authorization));
      if (caller !== undefined) checkWait(buckets.secondsUntilToken(caller));
    },
    spend: (caller, authorization = null) => {
      if (authorization !== null) callersByHeader.set(hashToken(authorization), caller);
      checkWait(buckets.take(caller));
    },
    run: async (caller, leave, work) => {
      const leaveOwn = ownRequests.take(caller);
      if (leaveOwn === undefined) {
        leave();
        const message = describePlaces('requests under way of one caller', maxConcurrentPerCaller);
        throw refusal('caller_requests', message, requestRetrySeconds);
      }
      const late = (): LimitError =>
        refusal('timeout', `request: at most ${requestTimeoutSeconds} seconds; it took longer`, requestRetrySeconds);
      // Given back not when the answer is late but when the work has ended: what still goes on takes up a place.
      return withDeadline(requestTimeoutSeconds, () => releaseAfter(work, [leave, leaveOwn]), late);
    },
    ...limitStreams(settings, refusal),
  };
}

async function releaseAfter<T>(work: () => Promise<T>, releases: readonly Release[]): Promise<T> {
  try {
    return await work();
  } finally {
    for (const release of releases) release();
  }
}

/** What has no end of its own. */
function limitStreams(
  { maxFeedsPerCaller, maxFeeds }: Config['limits'],
  refusal: (reason: LimitReason, message: string, retryAfterSeconds: number) => LimitError,
): Pick<Limits, 'openFeed' | 'openSocket'> {
  const feeds = createPlaces(maxFeeds);
  const ownFeeds = createPlaces(maxFeedsPerCaller);
  const ownSockets = createPlaces(maxFeedsPerCaller);
  const take = (places: Places, key: string, reason: LimitReason, message: string): Release => {
    const release = places.take(key);
    if (release === undefined) throw refusal(reason, message, feedRetrySeconds);
    return release;
  };
  return {
    openFeed: (caller) => {
      const closeOwn = take(ownFeeds, caller, 'caller_feeds', describePlaces('feeds of one caller', maxFeedsPerCaller));
      try {
        const close = take(feeds, everyone, 'feeds', describePlaces('feeds', maxFeeds));
        return () => [close, closeOwn].forEach((release) => release());
      } catch (error) {
        closeOwn();
        throw error;
      }
    },
    // A connection without a feed is of no use to a caller, so it needs no number of its own.
    openSocket: (caller) =>
      take(ownSockets, caller, 'caller_sockets', describePlaces('connections of one caller', maxFeedsPerCaller)),
  };
}

function describePlaces(what: string, most: number): string {
  return `${what}: at most ${most} at one time; given one more`;
}
