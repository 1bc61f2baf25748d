import { ErrorCode as ProtocolCode, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { describeError } from '../shared/describe-error.ts';

/** A tool error is read by a model: it says what was wrong and what to do, and never what went on inside. */
export function toToolError(error: unknown, logger: Logger): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: describe(error, logger).text }] };
}

/** What the SDK tells the client as it is. Its own McpError puts its number into the message, at both ends. */
export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.data = data;
  }
}

/** For what is no tool: the SDK would tell the client whatever was thrown. */
export function toProtocolError(error: unknown, logger: Logger): ProtocolError {
  const { code, text } = describe(error, logger);
  return new ProtocolError(protocolCodes[code] ?? ProtocolCode.InternalError, text);
}

/** The protocol has this number, the SDK no name for it. */
export const resourceNotFound = -32_002;

const protocolCodes: Record<string, number> = {
  NOT_FOUND: resourceNotFound,
  INVALID_INPUT: ProtocolCode.InvalidParams,
  BAD_REQUEST: ProtocolCode.InvalidParams,
};

/** The pipeline that ran the operation has masked its errors already. */
function describe(error: unknown, logger: Logger): { code: string; text: string } {
  const isMasked = error instanceof GraphQLError && typeof error.extensions['code'] === 'string';
  const { code, message, hint } = isMasked
    ? { message: error.message, ...(error.extensions as { code: string; hint?: string }) }
    : describeError(error, logger);
  return { code, text: hint === undefined ? `${code}: ${message}` : `${code}: ${message}\n${hint}` };
}
