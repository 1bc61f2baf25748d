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
  if (original instanceof GraphQLError) {
    // The outer one names the variable; the inner one is what its scalar said.
    return { code: 'BAD_REQUEST', message: (error as GraphQLError).message, hint: undefined };
  }
  if (isStackOverflow(original)) {
    logger.warn({ err: original }, 'a request was nested too deeply');
    return { code: 'LIMIT_EXCEEDED', message: 'the request is nested too deeply', hint: undefined };
  }
  const errorId = currentRequestId() ?? uuidv7();
  logger.error({ err: original, errorId }, 'unexpected error');
  return { code: 'INTERNAL', message: `unexpected error; the log has it under ${errorId}`, hint: undefined };
}

/** What the recursive functions of others (parsers, validators, JSON) make of endless nesting. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}
