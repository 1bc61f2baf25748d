import { ErrorCode as ProtocolCode, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { describeError } from '../shared/describe-error.ts';

/** Writes an error for a model: what was wrong and what to do, without internals. */
export function toToolError(error: unknown, logger: Logger): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: describe(error, logger).text }] };
}

/** An error that the SDK passes to the client unchanged. Its own McpError repeats its number in the message. */
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

/** Describes an error of a prompt or resource; the SDK would pass on whatever was thrown. */
export function toProtocolError(error: unknown, logger: Logger): ProtocolError {
  const { code, text } = describe(error, logger);
  return new ProtocolError(protocolCodes[code] ?? ProtocolCode.InternalError, text);
}

/** Codes of the protocol for which the SDK has no name. */
export const sessionNotFound = -32_001;
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

/** Answers an HTTP request that cannot become a call, with a JSON-RPC error that belongs to no id. */
export function refuse(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  data?: object,
): Response {
  const error = { code, message, ...(data !== undefined && { data }) };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status, headers });
}
