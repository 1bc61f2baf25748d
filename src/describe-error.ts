import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { MemoryError, type ErrorCode } from './errors.ts';
import { currentRequestId } from './request-id.ts';

export interface DescribedError {
  code: ErrorCode | 'BAD_REQUEST' | 'INTERNAL';
  message: string;
  hint: string | undefined;
}

/**
 * What a caller may see of an error, the same at every door. Ours and GraphQL's own (a syntax error, a missing
 * variable) are told as they are; anything else is logged under the request's id, and the caller gets that id.
 */
export function describeError(error: unknown, logger: Logger): DescribedError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  if (original instanceof MemoryError) {
    if (original.cause !== undefined) logger.warn({ err: original }, original.message);
    return { code: original.code, message: original.message, hint: original.hint };
  }
  if (original instanceof GraphQLError) return { code: 'BAD_REQUEST', message: original.message, hint: undefined };
  const errorId = currentRequestId() ?? uuidv7();
  logger.error({ err: original, errorId }, 'unexpected error');
  return { code: 'INTERNAL', message: `unexpected error; the log has it under ${errorId}`, hint: undefined };
}
