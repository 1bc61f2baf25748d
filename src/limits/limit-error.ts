import { MemoryError } from '../errors.ts';

/** What there was too much of: `caller_...` of one caller, the others of all. */
export const limitReasons = [
  'rate',
  'caller_requests',
  'requests',
  'caller_feeds',
  'feeds',
  'caller_sockets',
  'timeout',
] as const;

export type LimitReason = (typeof limitReasons)[number];

/** A request that is right but too much now: the same may be taken later. */
export class LimitError extends MemoryError {
  readonly reason: LimitReason;
  readonly retryAfterSeconds: number;

  constructor(reason: LimitReason, message: string, retryAfterSeconds: number) {
    const seconds = `${retryAfterSeconds} second${retryAfterSeconds === 1 ? '' : 's'}`;
    super(reason === 'timeout' ? 'TIMEOUT' : 'LIMIT_EXCEEDED', message, { hint: `Try again in ${seconds}.` });
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** 429 where the caller asks too much, 503 where all of them together do. */
  get status(): 429 | 503 {
    return this.reason === 'rate' || this.reason.startsWith('caller_') ? 429 : 503;
  }

  get headers(): Record<string, string> {
    return { 'retry-after': String(this.retryAfterSeconds) };
  }
}
