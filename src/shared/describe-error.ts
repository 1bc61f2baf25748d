import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { MemoryError, type ErrorCode } from './errors.ts';
import { currentRequestId } from './request-context.ts';

export interface DescribedError {
  code: ErrorCode | 'BAD_REQUEST' | 'INTERNAL';
  message: string;
  hint: string | undefined;
}

/**
 * Returns what a caller may see of an error, the same at every door. Our errors and GraphQL's own (a syntax error, a
 * missing variable) are returned unchanged; any other is logged under the request's id, and the caller gets that id.
 */
export function describeError(error: unknown, logger: Logger): DescribedError {
  const original = findOrigin(error);
  if (original instanceof MemoryError) {
    if (original.cause !== undefined) logger.warn({ err: original }, original.message);
    return { code: original.code, message: fullest(error, original), hint: original.hint };
  }
  if (original instanceof GraphQLError) {
    return { code: 'BAD_REQUEST', message: fullest(error, original), hint: undefined };
  }
  if (isStackOverflow(original)) {
    logger.warn({ err: original }, 'a request was nested too deeply');
    return { code: 'LIMIT_EXCEEDED', message: 'the request is nested too deeply', hint: undefined };
  }
  const errorId = currentRequestId() ?? uuidv7();
  logger.error({ err: original, errorId }, 'unexpected error');
  return { code: 'INTERNAL', message: `unexpected error; the log has it under ${errorId}`, hint: undefined };
}

function findOrigin(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError !== undefined ? findOrigin(error.originalError) : error;
}

/** Of several GraphQL errors around it, the outermost names the variable and the place in it, if it says the rest too. */
function fullest(error: unknown, { message }: Error): string {
  return error instanceof GraphQLError && error.message.includes(message) ? error.message : message;
}

/** What the recursive functions of others (parsers, validators, JSON) make of endless nesting. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}
