import { MemoryError } from '../errors.ts';

/**
 * The few database errors that mean the same to every caller. Others (a violated constraint) belong to the function
 * that ran the statement and knows what it means there, so they pass unchanged.
 */
export function toMemoryError(error: unknown): unknown {
  if (error instanceof MemoryError) return error;
  const codes = codesOf(error);
  if (codes.some((code) => code === '57014' || code === 'P2028')) {
    return new MemoryError('TIMEOUT', 'the database took longer than a statement or transaction may', {
      cause: error,
      hint: 'Ask for less at once, or raise statement_timeout_ms in [butler.db].',
    });
  }
  if (codes.some(isConnectionCode)) {
    return new MemoryError('DATABASE_UNAVAILABLE', 'the database cannot be reached', {
      cause: error,
      hint: 'Try again shortly; nothing was written.',
    });
  }
  return error;
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

/** SQLSTATE of an error of `pg`, or of the one that Prisma's adapter wrapped. */
export function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const { code, originalCode, cause, meta } = error as Record<string, unknown>;
  const own = [code, originalCode].filter((value) => typeof value === 'string');
  const nested = [cause, (meta as Record<string, unknown> | undefined)?.['driverAdapterError']];
  return [...own, ...nested.flatMap((inner) => codesOf(inner, depth + 1))];
}
