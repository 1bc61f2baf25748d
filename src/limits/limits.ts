import { LRUCache } from 'lru-cache';
import { hashToken } from '../auth/tokens.ts';
import type { Config } from '../config/schema.ts';
import { currentDeadline, withDeadline } from './deadline.ts';
import { Gate, type GateOptions, type Release } from './gate.ts';
import { LimitError, type LimitReason } from './limit-error.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** How much each caller, by its key, and all callers together may ask of this process. Excess throws a LimitError. */
export interface Limits {
  readonly settings: Config['limits'];
  /** Does the work of one request, including its wait for a place, within the time that a request may take. */
  withinTime<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Waits for a place for a request with this Authorization header, until the client hangs up; without `hungUp`, throws
   * where it would have to wait. A caller known by this header that has exceeded its rate is refused before its token is
   * looked up.
   */
  enter(authorization: string | null, hungUp?: AbortSignal): Promise<RequestPlace>;
  /** Does the work of an authenticated caller once it has a place, within the time that a request may take. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
  /** Counts one request against the rate of the caller. */
  spend(caller: string): void;
  openFeed(caller: string): Release;
  openSocket(caller: string): Release;
}

export interface RequestPlace {
  /** Counts the request against the rate of its caller, now that it is authenticated, and waits for a place of its own. */
  claim: (caller: string) => Promise<void>;
  leave: Release;
}

interface Sources {
  config: Pick<Config, 'limits'>;
  now: () => Date;
  /** Called for each refusal. */
  refused: (reason: LimitReason) => void;
}

const requestRetrySeconds = 1;
const feedRetrySeconds = 5;

export function createLimits({ config, now, refused }: Sources): Limits {
  const settings = { ...config.limits };
  const { requestsPerMinute: perMinute, burst, requestTimeoutSeconds: seconds } = settings;
  const buckets = createTokenBuckets({ perMinute, burst, now });
  const refusal: Refusal = (reason, message, retryAfterSeconds = requestRetrySeconds) => {
    refused(reason);
    return new LimitError(reason, message, retryAfterSeconds);
  };
  const checkWait = (wait: number): void => {
    if (wait > 0)
      throw refusal('rate', `requests of one caller must be at most ${perMinute} a minute (got more)`, wait);
  };
  const spend = (caller: string): void => checkWait(buckets.take(caller));
  const rate = { check: (caller: string) => checkWait(buckets.secondsUntilToken(caller)), spend };
  const late = (): LimitError =>
    refusal('timeout', `request must be answered within ${seconds} seconds (got no answer by then)`);
  const withinTime: Limits['withinTime'] = (work) => withDeadline(seconds, work, late);
  const { enter, enterAs } = limitRequests(settings, refusal, rate);
  return {
    settings,
    spend,
    enter,
    run: (caller, work) =>
      withinTime(async () => {
        const leave = await enterAs(caller);
        return work().finally(leave);
      }),
    withinTime,
    ...limitStreams(settings, refusal),
  };
}

type Refusal = (reason: LimitReason, message: string, retryAfterSeconds?: number) => LimitError;

interface Rate {
  check: (caller: string) => void;
  spend: (caller: string) => void;
}

const headersKept = 10_000;

/**
 * A request with a header that is not known waits among its like until it is authenticated, and then among those of its
 * caller. So tokens that were made up, each another, take no place of a caller that is known.
 */
function limitRequests(
  settings: Config['limits'],
  refusal: Refusal,
  rate: Rate,
): Pick<Limits, 'enter'> & { enterAs: (caller: string) => Promise<Release> } {
  const requests = new Gate(requestGate(settings, settings.maxConcurrent, refusal));
  const strangers = new Gate(requestGate(settings, Math.ceil(settings.maxConcurrent / 2), refusal));
  const callersByHeader = new LRUCache<string, string>({ max: headersKept });
  const withDeadlineOf = (signals: readonly AbortSignal[]): AbortSignal[] =>
    [...signals, currentDeadline() ?? []].flat();
  return {
    enterAs: (caller) => requests.enter(caller, withDeadlineOf([])),
    enter: async (authorization, hungUp) => {
      const enter = async (gate: Gate, key: string): Promise<Release> =>
        hungUp === undefined ? gate.take(key) : gate.enter(key, withDeadlineOf([hungUp]));
      const header = authorization === null ? '' : hashToken(authorization);
      const known = callersByHeader.get(header);
      if (known !== undefined) rate.check(known);
      let leave = await (known === undefined ? enter(strangers, header) : enter(requests, known));
      let isClaimed = false;
      return {
        claim: async (caller) => {
          isClaimed = true;
          callersByHeader.set(header, caller);
          rate.spend(caller);
          if (caller === known) return;
          leave();
          leave = await enter(requests, caller);
        },
        leave: () => {
          // The token may have been revoked: its senders must not use up the slots of its former owner.
          if (!isClaimed) callersByHeader.delete(header);
          leave();
        },
      };
    },
  };
}

function requestGate(settings: Config['limits'], max: number, refusal: Refusal): GateOptions {
  const { maxConcurrentPerCaller: maxPerCaller, maxQueuedPerCaller, maxQueued } = settings;
  // What has waited so long is not begun: there must be time left to do it.
  const waitSeconds = settings.requestTimeoutSeconds / 2;
  const late = (): LimitError =>
    refusal('timeout', `request must be started within ${waitSeconds} seconds (got no turn by then); nothing was done`);
  return {
    maxPerCaller,
    max,
    queue: { maxPerCaller: maxQueuedPerCaller, max: maxQueued, waitMs: waitSeconds * 1000, late },
    refuse: (excess) =>
      excess === 'caller'
        ? refusal('caller_queue', `queue of one caller must hold at most ${maxQueuedPerCaller} requests (got one more)`)
        : refusal('queue', `queue of all callers must hold at most ${maxQueued} requests (got one more)`),
  };
}

/** A feed or connection has no end of its own, so another cannot wait for it. */
function limitStreams(
  { maxFeedsPerCaller: maxPerCaller, maxFeeds: max }: Config['limits'],
  refusal: Refusal,
): Pick<Limits, 'openFeed' | 'openSocket'> {
  const describe = (what: string, most: number): string => `${what} must be at most ${most} at one time (got one more)`;
  const feeds = new Gate({
    maxPerCaller,
    max,
    refuse: (excess) =>
      excess === 'caller'
        ? refusal('caller_feeds', describe('feeds of one caller', maxPerCaller), feedRetrySeconds)
        : refusal('feeds', describe('feeds of all callers', max), feedRetrySeconds),
  });
  // A connection without a feed is of no use to a caller, so it needs no number of its own.
  const sockets = new Gate({
    maxPerCaller,
    max: Number.POSITIVE_INFINITY,
    refuse: () => refusal('caller_sockets', describe('connections of one caller', maxPerCaller), feedRetrySeconds),
  });
  return { openFeed: (caller) => feeds.take(caller), openSocket: (caller) => sockets.take(caller) };
}
