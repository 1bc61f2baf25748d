import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { describeGiven, MemoryError } from '../shared/errors.ts';
import { toSnakeCase } from '../shared/names.ts';
import { currentRequestContext, newRequestContext, withRequestContext } from '../shared/request-context.ts';
import { toVariables } from './arguments.ts';
import { toToolError } from './errors.ts';
import { runOperation, type Execute } from './execute.ts';
import { describeOmissions } from './omissions.ts';
import type { Operation } from './operation.ts';
import { describeRequestContext, readRequestContext, requestContextName } from './request-context.ts';
import type { Tool } from './tool.ts';

export interface BoundTool {
  tool: Tool;
  operation: Operation;
  /** As tools/list tells it. */
  listed: ListedTool;
}

export interface CallOptions {
  schema: GraphQLSchema;
  execute: Execute;
  logger: Logger;
  /** Whether an id that a caller chose may go into logs and events. */
  mayBeKept: (id: string) => boolean;
}

/** The context that the caller names wins over that of the connection; either way the answer says which it was. */
export async function callTool(
  { tool, operation }: BoundTool,
  given: Record<string, unknown>,
  { schema, execute, logger, mayBeKept }: CallOptions,
): Promise<CallToolResult> {
  let context = currentRequestContext() ?? newRequestContext();
  const meta = (): CallToolResult['_meta'] => ({ [requestContextName]: describeRequestContext(context) });
  try {
    const named = readRequestContext(given[requestContextName], mayBeKept);
    context = named ?? context;
    const variables = toVariables(operation, given);
    const result = await withRequestContext(context, () => runOperation({ schema, operation, variables, execute }));
    if (result === null) throw notFound(variables);
    return {
      content: [{ type: 'text', text: [tool.describe(result as never), ...describeOmissions(result)].join('\n') }],
      structuredContent: named === null ? result : { ...result, [requestContextName]: describeRequestContext(named) },
      _meta: meta(),
    };
  } catch (error) {
    return { ...withRequestContext(context, () => toToolError(error, logger)), _meta: meta() };
  }
}

function notFound(variables: Record<string, unknown>): MemoryError {
  const asked = Object.entries(variables).map(([name, value]) => `${toSnakeCase(name)} ${describeGiven(value)}`);
  return new MemoryError('NOT_FOUND', `nothing is there with ${asked.join(', ')}`);
}
