/**
 * Every error the core throws on purpose. Each door maps the code to its own form (GraphQL error union, MCP tool
 * error, HTTP status, exit line); anything that is not a MemoryError is unexpected, is logged with an id and masked.
 */
export const errorCodes = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'CONFLICT',
  'FORBIDDEN',
  'UNAUTHENTICATED',
  'INVALID_TRANSITION',
  'LIMIT_EXCEEDED',
  'QUEUE_FULL',
  'TIMEOUT',
  'EMBEDDING_FAILED',
  'UNREADABLE',
  'DATABASE_UNAVAILABLE',
  'STORAGE_FULL',
  'ISSUER_UNAVAILABLE',
  'CONFIGURATION',
  'STARTUP',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** The same request may succeed later, unchanged. Answered with 503 over HTTP. */
export const retryableCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'QUEUE_FULL',
  'TIMEOUT',
  'DATABASE_UNAVAILABLE',
  'STORAGE_FULL',
  'ISSUER_UNAVAILABLE',
]);

export class MemoryError extends Error {
  readonly code: ErrorCode;
  /** What the caller can do about it. A model reads this to recover. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MemoryError';
    this.code = code;
    this.hint = options.hint;
  }
}

const outages: ReadonlySet<string> = new Set(['DATABASE_UNAVAILABLE', 'STORAGE_FULL', 'QUEUE_FULL']);

/** Tells a lost or full database from an error that one row causes. */
export function isOutage(error: unknown): boolean {
  return error instanceof MemoryError && outages.has(error.code);
}

/** What was wrong, what is allowed, what was given: the three parts of every message about bad input. */
export function invalidInput(field: string, allowed: string, given: unknown, hint?: string): MemoryError {
  return new MemoryError(
    'INVALID_INPUT',
    `${field} must be ${allowed} (got ${describeGiven(given)})`,
    hint === undefined ? {} : { hint },
  );
}

const givenLimit = 80;

/** A short, printable form of a hostile value: never longer than a line, never a control character. */
export function describeGiven(given: unknown): string {
  if (given === undefined) return 'nothing';
  // JSON has neither Infinity nor NaN, and would say null.
  const text = typeof given === 'number' ? String(given) : (JSON.stringify(given) ?? typeof given);
  return text.length > givenLimit ? `${text.slice(0, givenLimit)}… (${text.length} characters)` : text;
}
