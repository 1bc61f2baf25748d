import { MemoryError, type ErrorCode } from '../shared/errors.ts';

/** What there was too much of: `caller_...` of one caller, the others of all callers. */
export const limitReasons = [
  'rate',
  'caller_queue',
  'queue',
  'caller_feeds',
  'feeds',
  'caller_sockets',
  'timeout',
] as const;

export type LimitReason = (typeof limitReasons)[number];

const codes: Partial<Record<LimitReason, ErrorCode>> = {
  caller_queue: 'QUEUE_FULL',
  queue: 'QUEUE_FULL',
  timeout: 'TIMEOUT',
};

/** Refuses a valid request that is too much now. The caller may send it again later. */
export class LimitError extends MemoryError {
  readonly reason: LimitReason;
  readonly retryAfterSeconds: number;

  constructor(reason: LimitReason, message: string, retryAfterSeconds: number) {
    const seconds = `${retryAfterSeconds} second${retryAfterSeconds === 1 ? '' : 's'}`;
    super(codes[reason] ?? 'LIMIT_EXCEEDED', message, { hint: `Try again in ${seconds}.` });
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** 429 where the one caller asks too much, 503 where all callers together do. */
  get status(): 429 | 503 {
    return this.reason === 'rate' || this.reason.startsWith('caller_') ? 429 : 503;
  }

  get headers(): Record<string, string> {
    return { 'retry-after': String(this.retryAfterSeconds) };
  }
}
