import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import { execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { GraphQLContext } from '../graphql/context.ts';
import { packageManifest } from '../package-root.ts';
import { toVariables } from './arguments.ts';
import { toToolError } from './errors.ts';
import { inputSchemaOf } from './input-schema.ts';
import { readOperation, type Operation } from './operation.ts';
import { toToolResult } from './result.ts';
import type { Tool } from './tool.ts';
import { tools } from './tools.ts';

export interface BoundTool {
  tool: Tool;
  operation: Operation;
}

/** Reads every tool's operation against the schema: a tool that no longer fits it stops the start. */
export function bindTools(schema: GraphQLSchema): Map<string, BoundTool> {
  return new Map(tools.map((tool) => [tool.name, { tool, operation: readOperation(schema, tool) }]));
}

/** One for each connection. `context` is made anew for each call, so that each has a request id of its own. */
export function createMcpServer(
  schema: GraphQLSchema,
  boundTools: Map<string, BoundTool>,
  createContext: () => GraphQLContext,
): Server {
  const { description, name } = createContext().memory.config.butler;
  const server = new Server(
    { name: `butler-memory (${name})`, version: packageManifest.version },
    { capabilities: { tools: {} }, instructions: description },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...boundTools.values()].map(({ tool, operation }) => ({
      name: tool.name,
      title: tool.title,
      description: operation.field.description ?? '',
      inputSchema: inputSchemaOf(operation),
      annotations: tool.annotations,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const bound = boundTools.get(params.name);
    if (bound === undefined) {
      const allowed = [...boundTools.keys()].join(', ');
      throw new McpError(ErrorCode.InvalidParams, `tool: one of ${allowed}; given ${JSON.stringify(params.name)}`);
    }
    return callTool(schema, bound, params.arguments ?? {}, createContext());
  });
  return server;
}

async function callTool(
  schema: GraphQLSchema,
  { tool, operation }: BoundTool,
  given: Record<string, unknown>,
  context: GraphQLContext,
): Promise<CallToolResult> {
  try {
    const variableValues = toVariables(operation, given);
    const answer = (await execute({ schema, document: operation.document, contextValue: context, variableValues })) as ExecutionResult;
    if (answer.errors?.[0] !== undefined) throw answer.errors[0];
    const named = toToolResult(operation.fieldNode, operation.field, answer.data?.[operation.resultName]);
    const result = toPlainJson(named);
    return { content: [{ type: 'text', text: tool.describe(result as never) }], structuredContent: result };
  } catch (error) {
    return toToolError(error, context.memory);
  }
}

/** Dates become text here, as they would on the wire. */
function toPlainJson(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}
