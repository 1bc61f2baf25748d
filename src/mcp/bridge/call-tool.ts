import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { describeGiven, MemoryError } from '../../shared/errors.ts';
import { toSnakeCase } from '../../shared/names.ts';
import { currentRequestContext, newRequestContext, withRequestContext } from '../../shared/request-context.ts';
import { toVariables } from './arguments.ts';
import { toToolError } from '../errors.ts';
import type { Operation } from './operation.ts';
import { describeRequestContext, readRequestContext, requestContextName } from './request-context.ts';
import { toToolResult } from './result.ts';
import type { Tool } from '../tools/tool.ts';

/** Executes a document as the caller of this connection. */
export type Execute = (document: DocumentNode, variables: Record<string, unknown>) => Promise<ExecutionResult>;

export interface BoundTool {
  tool: Tool;
  operation: Operation;
  /** Its entry in tools/list. */
  listed: ListedTool;
}

export interface CallOptions {
  schema: GraphQLSchema;
  execute: Execute;
  logger: Logger;
  /** Returns whether an id chosen by a caller may go into logs and events. */
  mayBeKept: (id: string) => boolean;
}

/** Runs the operation of a tool. A request context among the arguments wins over that of the connection; `_meta` says which applied. */
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

export interface Run {
  schema: GraphQLSchema;
  operation: Operation;
  variables: Record<string, unknown>;
  execute: Execute;
}

/** Runs an operation and returns its result in the shape of a tool's, or null if the field is null. Throws its first error. */
export async function runOperation({
  schema,
  operation,
  variables,
  execute,
}: Run): Promise<Record<string, unknown> | null> {
  const { data, errors } = await execute(operation.document, variables);
  if (errors?.[0] !== undefined) throw errors[0];
  return toPlainJson(toToolResult(schema, operation, data?.[operation.resultName] ?? null));
}

/** Turns dates into text, as serialization would. */
function toPlainJson(value: unknown): Record<string, unknown> | null {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown> | null;
}

interface Omissions {
  redacted?: number;
  cut?: readonly { field: string; from_length: number; to_length: number }[];
}

/** Tells the model what a write did not store. Applies to tools whose operation selects `redacted` and `cut`. */
function describeOmissions({ redacted = 0, cut = [] }: Omissions): string[] {
  const masked = redacted === 1 ? '1 secret or personal number was' : `${redacted} secrets and personal numbers were`;
  return [
    ...cut.map(
      ({ field, from_length, to_length }) =>
        `${field} was cut from ${from_length} to ${to_length} characters; the rest was not stored.`,
    ),
    ...(redacted === 0 ? [] : [`${masked} masked before storing.`]),
  ];
}
