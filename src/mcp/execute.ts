import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';
import { toToolResult } from './result.ts';

/** Runs an operation on the schema as the caller of this connection. */
export type Execute = (document: DocumentNode, variables: Record<string, unknown>) => Promise<ExecutionResult>;

export interface Run {
  schema: GraphQLSchema;
  operation: Operation;
  variables: Record<string, unknown>;
  execute: Execute;
}

/** What the operation answers, as a tool tells it; null when nothing is there. Throws whatever went wrong. */
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

/** Dates become text here, as they would on the wire. */
function toPlainJson(value: unknown): Record<string, unknown> | null {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown> | null;
}
