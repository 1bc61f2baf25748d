import { MemoryError } from '../shared/errors.ts';

/**
 * The few database errors that mean the same to every caller. Others (a violated constraint) belong to the function
 * that ran the statement and knows what it means there, so they pass unchanged.
 */
export function toMemoryError(error: unknown): unknown {
  if (error instanceof MemoryError) return error;
  const codes = listErrorCodes(error);
  if (codes.some((code) => code === '53100' || code === 'ENOSPC' || code === 'EDQUOT')) return storageFull(error);
  if (codes.some((code) => code === '57014' || code === 'P2028')) {
    return new MemoryError('TIMEOUT', 'the database took longer than a statement or transaction may', {
      cause: error,
      hint: 'Ask for less at once, or raise statement_timeout_ms in [butler.db].',
    });
  }
  if (codes.some((code) => code === '40P01' || code === '40001')) {
    return new MemoryError('CONFLICT', 'deadlock with a concurrent write', {
      cause: error,
      hint: 'Nothing was changed. Try again.',
    });
  }
  if (codes.length === 0 && isPoolTimeout(error)) {
    return new MemoryError('QUEUE_FULL', 'every connection to the database is in use', {
      cause: error,
      hint: 'Nothing was changed. Try again shortly, or raise pool_size in [butler.db].',
    });
  }
  if (codes.some(isConnectionCode) || (codes.length === 0 && isConnectionMessage(error))) {
    return new MemoryError('DATABASE_UNAVAILABLE', 'the database cannot be reached', {
      cause: error,
      hint: 'Try again shortly. Whether a write that was under way was committed is not known.',
    });
  }
  return error;
}

function storageFull(cause?: unknown): MemoryError {
  return new MemoryError('STORAGE_FULL', 'the disk of the database is full', {
    cause,
    hint: 'Try again when there is space on the disk.',
  });
}

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'P1001',
  'P1002',
  'P1017',
]);

/** SQLSTATE classes 08 (connection) and 57P0x (server shutting down). */
function isConnectionCode(code: string): boolean {
  return connectionCodes.has(code) || code.startsWith('08') || code.startsWith('57P');
}

/** `pg` gives no code to a connection that it lost, or could not make in time. These are its words for that. */
function isConnectionMessage(error: unknown): boolean {
  const words = /Connection terminated|Client .* is not queryable|timeout expired/;
  return error instanceof Error && words.test(error.message);
}

/** `pg` says this of a full pool alone: a connection that it could not make in time was "terminated". */
function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.includes('timeout exceeded when trying to connect');
}

/** SQLSTATE of an error of `pg`, or of the one that Prisma's adapter wrapped. */
export function listErrorCodes(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const { code, originalCode, cause, meta } = error as Record<string, unknown>;
  const own = [code, originalCode].filter((value) => typeof value === 'string');
  const nested = [cause, (meta as Record<string, unknown> | undefined)?.['driverAdapterError']];
  return [...own, ...nested.flatMap((inner) => listErrorCodes(inner, depth + 1))];
}
