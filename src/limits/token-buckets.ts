import { LRUCache } from 'lru-cache';

export interface TokenBuckets {
  /** Seconds until the caller has a token; 0 when it has one. */
  secondsUntilToken(caller: string): number;
  /** The same, and takes the token if there is one. */
  take(caller: string): number;
}

interface TokenBucketOptions {
  perMinute: number;
  burst: number;
  now: () => Date;
}

/** More callers than this at a time, and the one that was quiet the longest starts anew: memory has an end too. */
const callersKept = 10_000;

export function createTokenBuckets({ perMinute, burst, now }: TokenBucketOptions): TokenBuckets {
  const buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: callersKept });
  const readTokens = (caller: string, atMs: number): number => {
    const bucket = buckets.get(caller);
    if (bucket === undefined) return burst;
    // A clock that was set back earns nothing.
    const earned = (Math.max(0, atMs - bucket.atMs) * perMinute) / 60_000;
    return Math.min(burst, bucket.tokens + earned);
  };
  const secondsUntil = (tokens: number): number => (tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60) / perMinute));
  return {
    secondsUntilToken: (caller) => secondsUntil(readTokens(caller, now().getTime())),
    take: (caller) => {
      const atMs = now().getTime();
      const tokens = readTokens(caller, atMs);
      if (tokens >= 1) buckets.set(caller, { tokens: tokens - 1, atMs });
      return secondsUntil(tokens);
    },
  };
}
