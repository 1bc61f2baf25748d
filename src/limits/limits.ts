import { LRUCache } from 'lru-cache';
import { hashToken } from '../auth/tokens.ts';
import type { Config } from '../config/schema.ts';
import { ConcurrencyLimit, type Release } from './concurrency-limit.ts';
import { currentDeadline, withDeadline } from './deadline.ts';
import { LimitError, type LimitReason } from './limit-error.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** How much one caller, by its key, and all callers together may ask of this process. Excess throws a LimitError. */
export interface Limits {
  readonly settings: Config['limits'];
  /** Counts one request against the rate of the caller. */
  spend(caller: string): void;
  /** Runs an operation of an authenticated caller: waits for its turn, and rejects with TIMEOUT at the deadline. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs a request whose caller `work` authenticates, and then claims for it: waits for its turn until the client hangs
   * up, and rejects with TIMEOUT at the deadline. Without `hungUp`, throws where it would have to wait.
   */
  runRequest<T>(request: UnauthenticatedRequest, work: (claim: Claim) => Promise<T>): Promise<T>;
  openFeed(caller: string): Release;
  openSocket(caller: string): Release;
}

interface UnauthenticatedRequest {
  /** The Authorization header. */
  authorization: string | null;
  hungUp?: AbortSignal;
}

/** Counts the request against the rate of its caller, now that it is known, and waits for the turn of that caller. */
export type Claim = (caller: string) => Promise<void>;

interface Sources {
  config: Pick<Config, 'limits'>;
  now: () => Date;
  /** Called for each refusal. */
  refused: (reason: LimitReason) => void;
}

const headersKept = 10_000;

export function createLimits({ config, now, refused }: Sources): Limits {
  const settings = { ...config.limits };
  const refuse: Refuse = (reason, message, retryAfterSeconds = 1) => {
    refused(reason);
    return new LimitError(reason, message, retryAfterSeconds);
  };
  const rate = limitRate(settings, now, refuse);
  const authenticated = limitRequests(settings, settings.maxConcurrent, refuse);
  // Requests with an unknown header queue apart: a flood of invented tokens takes no turn of a caller that is known.
  const unauthenticated = limitRequests(settings, Math.ceil(settings.maxConcurrent / 2), refuse);
  const callersByHeader = new LRUCache<string, string>({ max: headersKept });
  const { requestTimeoutSeconds: seconds } = settings;
  const withinTime = <T>(work: () => Promise<T>): Promise<T> =>
    withDeadline(seconds, work, () =>
      refuse('timeout', `request must be answered within ${seconds} seconds (got no answer by then)`),
    );
  return {
    settings,
    spend: rate.spend,
    run: (caller, work) =>
      withinTime(async () => {
        const release = await authenticated.acquireOrWait(caller, [currentDeadline()]);
        return work().finally(release);
      }),
    runRequest: ({ authorization, hungUp }, work) =>
      withinTime(async () => {
        const acquire = async (limit: ConcurrencyLimit, key: string): Promise<Release> =>
          hungUp === undefined ? limit.acquire(key) : limit.acquireOrWait(key, [hungUp, currentDeadline()]);
        const header = authorization === null ? '' : hashToken(authorization);
        const known = callersByHeader.get(header);
        // Rejects a caller beyond its rate before its token is looked up.
        if (known !== undefined) rate.check(known);
        let release = await (known === undefined ? acquire(unauthenticated, header) : acquire(authenticated, known));
        let isClaimed = false;
        const claim: Claim = async (caller) => {
          isClaimed = true;
          callersByHeader.set(header, caller);
          rate.spend(caller);
          if (caller === known) return;
          release();
          release = await acquire(authenticated, caller);
        };
        try {
          return await work(claim);
        } finally {
          // The token may have been revoked: its bearer must not use up the turns of its former owner.
          if (!isClaimed) callersByHeader.delete(header);
          // Only now, which may be after a late answer: work that still runs counts as running.
          release();
        }
      }),
    ...limitStreams(settings, refuse),
  };
}

type Refuse = (reason: LimitReason, message: string, retryAfterSeconds?: number) => LimitError;

/** `check` throws for a caller that has exceeded its rate; `spend` also counts one request. */
function limitRate(
  { requestsPerMinute: perMinute, burst }: Config['limits'],
  now: () => Date,
  refuse: Refuse,
): Record<'check' | 'spend', (caller: string) => void> {
  const buckets = createTokenBuckets({ perMinute, burst, now });
  const requireToken = (waitSeconds: number): void => {
    if (waitSeconds > 0)
      throw refuse('rate', `requests of one caller must be at most ${perMinute} a minute (got more)`, waitSeconds);
  };
  return {
    check: (caller) => requireToken(buckets.secondsUntilToken(caller)),
    spend: (caller) => requireToken(buckets.take(caller)),
  };
}

function limitRequests(settings: Config['limits'], max: number, refuse: Refuse): ConcurrencyLimit {
  const { maxConcurrentPerCaller: maxPerCaller, maxQueuedPerCaller, maxQueued, requestTimeoutSeconds } = settings;
  // A request that has waited this long is not begun: there must be time left to do it.
  const waitSeconds = requestTimeoutSeconds / 2;
  return new ConcurrencyLimit({
    maxPerCaller,
    max,
    queue: {
      maxPerCaller: maxQueuedPerCaller,
      max: maxQueued,
      waitMs: waitSeconds * 1000,
      late: () =>
        refuse(
          'timeout',
          `request must be started within ${waitSeconds} seconds (got no turn by then); nothing was done`,
        ),
    },
    refuse: (excess) =>
      excess === 'caller'
        ? refuse('caller_queue', `queue of one caller must hold at most ${maxQueuedPerCaller} requests (got one more)`)
        : refuse('queue', `queue of all callers must hold at most ${maxQueued} requests (got one more)`),
  });
}

const streamRetrySeconds = 5;

/** Feeds and connections have no end of their own, so another one cannot wait for it. */
function limitStreams(
  { maxFeedsPerCaller: maxPerCaller, maxFeeds: max }: Config['limits'],
  refuse: Refuse,
): Pick<Limits, 'openFeed' | 'openSocket'> {
  const reject = (reason: LimitReason, what: string, most: number): LimitError =>
    refuse(reason, `${what} must be at most ${most} at one time (got one more)`, streamRetrySeconds);
  const feeds = new ConcurrencyLimit({
    maxPerCaller,
    max,
    refuse: (excess) =>
      excess === 'caller'
        ? reject('caller_feeds', 'feeds of one caller', maxPerCaller)
        : reject('feeds', 'feeds of all callers', max),
  });
  // A connection is of use for feeds only, so it shares their number.
  const sockets = new ConcurrencyLimit({
    maxPerCaller,
    max: Number.POSITIVE_INFINITY,
    refuse: () => reject('caller_sockets', 'connections of one caller', maxPerCaller),
  });
  return { openFeed: (caller) => feeds.acquire(caller), openSocket: (caller) => sockets.acquire(caller) };
}
