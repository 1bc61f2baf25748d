import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describeError } from '../describe-error.ts';
import type { MemoryContext } from '../memory/context.ts';

/** A tool error is read by a model: it says what was wrong and what to do, and never what went on inside. */
export function toToolError(error: unknown, { logger }: MemoryContext): CallToolResult {
  const { code, message, hint } = describeError(error, logger);
  const text = hint === undefined ? `${code}: ${message}` : `${code}: ${message}\n${hint}`;
  return { isError: true, content: [{ type: 'text', text }] };
}
