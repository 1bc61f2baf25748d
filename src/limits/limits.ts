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
  /**
   * A place for one more request that came with this header: to find out who sends it costs something too. Whoever came
   * with it before and has no request left is refused before anybody looks the header up.
   */
  enter(authorization: string | null): RequestPlace;
  /** A place for one more request of a caller that is known. */
  enterAs(caller: string): RequestPlace;
  /** One request of the caller's. */
  spend(caller: string): void;
  /** The work of a request, for as long as one may take. Its place is given back when the work has ended. */
  run<T>(place: RequestPlace, work: () => Promise<T>): Promise<T>;
  openFeed(caller: string): Release;
  openSocket(caller: string): Release;
}

/** What a request takes up: one of its caller's places and one of those of all. */
export interface RequestPlace {
  /** Now that it is known who sends it: one request of the caller's is spent, and the place is the caller's from here on. */
  claim: (caller: string) => void;
  leave: Release;
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
  const { requestsPerMinute: perMinute, burst, requestTimeoutSeconds } = settings;
  const buckets = createTokenBuckets({ perMinute, burst, now });
  const refusal = (reason: LimitReason, message: string, retryAfterSeconds: number): LimitError => {
    refused(reason);
    return new LimitError(reason, message, retryAfterSeconds);
  };
  const checkWait = (seconds: number): void => {
    if (seconds > 0)
      throw refusal('rate', `requests: at most ${perMinute} a minute of one caller; given more`, seconds);
  };
  const spend = (caller: string): void => checkWait(buckets.take(caller));
  const rate = { check: (caller: string) => checkWait(buckets.secondsUntilToken(caller)), spend };
  return {
    settings,
    spend,
    ...limitRequests(settings, refusal, rate),
    run: async ({ leave }, work) => {
      const late = (): LimitError =>
        refusal('timeout', `request: at most ${requestTimeoutSeconds} seconds; it took longer`, requestRetrySeconds);
      // Given back not when the answer is late but when the work has ended: what still goes on takes up a place.
      return withDeadline(requestTimeoutSeconds, () => releaseAfter(work, leave), late);
    },
    ...limitStreams(settings, refusal),
  };
}

type Refusal = (reason: LimitReason, message: string, retryAfterSeconds: number) => LimitError;

interface Rate {
  check: (caller: string) => void;
  spend: (caller: string) => void;
}

/**
 * A place of the caller's own comes before one of all. The other way round, what one caller has too many of would hold the
 * places of all others while its token is looked up.
 */
function limitRequests(settings: Config['limits'], refusal: Refusal, rate: Rate): Pick<Limits, 'enter' | 'enterAs'> {
  const { takeOwn, takeStrange, takeAll } = requestPlaces(settings, refusal);
  const callersByHeader = new LRUCache<string, string>({ max: headersKept });
  const enterAs = (caller: string): RequestPlace => ({
    claim: rate.spend,
    leave: takeBoth(() => takeOwn(caller), takeAll),
  });
  const enterAsKnown = (caller: string, header: string): RequestPlace => {
    const { claim, leave } = enterAs(caller);
    let isClaimed = false;
    const place = {
      claim: (claimant: string) => {
        isClaimed = true;
        claim(claimant);
      },
      leave: () => {
        // It may have been revoked: whoever still sends it must not take the places of whom it belonged to.
        if (!isClaimed) callersByHeader.delete(header);
        leave();
      },
    };
    return releasedOnError(leave, () => {
      rate.check(caller);
      return place;
    });
  };
  const enterAsStranger = (header: string): RequestPlace => {
    const leaveAsStranger = takeBoth(() => takeOwn(header), takeStrange);
    const releases = [leaveAsStranger, releasedOnError(leaveAsStranger, takeAll)];
    const claim = (caller: string): void => {
      callersByHeader.set(header, caller);
      rate.spend(caller);
      releases.push(takeOwn(caller));
      leaveAsStranger();
    };
    return { claim, leave: () => releases.forEach((release) => release()) };
  };
  return {
    enterAs,
    enter: (authorization) => {
      const header = authorization === null ? '' : hashToken(authorization);
      const caller = callersByHeader.get(header);
      return caller === undefined ? enterAsStranger(header) : enterAsKnown(caller, header);
    },
  };
}

interface RequestPlaces {
  takeOwn: (key: string) => Release;
  takeStrange: () => Release;
  takeAll: () => Release;
}

function requestPlaces({ maxConcurrent, maxConcurrentPerCaller }: Config['limits'], refusal: Refusal): RequestPlaces {
  const all = createPlaces(maxConcurrent);
  const own = createPlaces(maxConcurrentPerCaller);
  // Headers that are not known may be made up, each another: they leave half of the places to callers that are known.
  const maxStrangers = Math.ceil(maxConcurrent / 2);
  const strangers = createPlaces(maxStrangers);
  const take = (places: Places, key: string, reason: LimitReason, message: string): Release => {
    const release = places.take(key);
    if (release === undefined) throw refusal(reason, message, requestRetrySeconds);
    return release;
  };
  const ofOwn = describePlaces('requests under way of one caller', maxConcurrentPerCaller);
  const ofStrangers = describePlaces('requests under way of callers that are not known yet', maxStrangers);
  const ofAll = describePlaces('requests under way', maxConcurrent);
  return {
    takeOwn: (key) => take(own, key, 'caller_requests', ofOwn),
    takeStrange: () => take(strangers, everyone, 'requests', ofStrangers),
    takeAll: () => take(all, everyone, 'requests', ofAll),
  };
}

/** When the second is refused, the first is given back. */
function takeBoth(first: () => Release, second: () => Release): Release {
  const releaseFirst = first();
  const releaseSecond = releasedOnError(releaseFirst, second);
  return () => [releaseFirst, releaseSecond].forEach((release) => release());
}

function releasedOnError<T>(release: Release, work: () => T): T {
  try {
    return work();
  } catch (error) {
    release();
    throw error;
  }
}

async function releaseAfter<T>(work: () => Promise<T>, release: Release): Promise<T> {
  try {
    return await work();
  } finally {
    release();
  }
}

/** What has no end of its own. */
function limitStreams(
  { maxFeedsPerCaller, maxFeeds }: Config['limits'],
  refusal: Refusal,
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
      const ofOwn = describePlaces('feeds of one caller', maxFeedsPerCaller);
      return takeBoth(
        () => take(ownFeeds, caller, 'caller_feeds', ofOwn),
        () => take(feeds, everyone, 'feeds', describePlaces('feeds', maxFeeds)),
      );
    },
    // A connection without a feed is of no use to a caller, so it needs no number of its own.
    openSocket: (caller) =>
      take(ownSockets, caller, 'caller_sockets', describePlaces('connections of one caller', maxFeedsPerCaller)),
  };
}

function describePlaces(what: string, most: number): string {
  return `${what}: at most ${most} at one time; given one more`;
}
