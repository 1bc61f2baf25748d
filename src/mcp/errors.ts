import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from 'pino';
import { describeError } from '../describe-error.ts';

/** A tool error is read by a model: it says what was wrong and what to do, and never what went on inside. */
export function toToolError(error: unknown, logger: Logger): CallToolResult {
  const { code, message, hint } = describeError(error, logger);
  const text = hint === undefined ? `${code}: ${message}` : `${code}: ${message}\n${hint}`;
  return { isError: true, content: [{ type: 'text', text }] };
}
