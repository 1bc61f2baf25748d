import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { MemoryError } from '../errors.ts';
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

export interface McpServerOptions {
  butler: { name: string; description: string };
  schema: GraphQLSchema;
  tools: Map<string, BoundTool>;
  logger: Logger;
  /** Runs an operation on the schema as the caller of this connection. */
  execute: (document: DocumentNode, variables: Record<string, unknown>) => Promise<ExecutionResult>;
}

/** One for each connection. */
export function createMcpServer(options: McpServerOptions): Server {
  const { butler, tools: boundTools } = options;
  const server = new Server(
    { name: `butler-memory (${butler.name})`, version: packageManifest.version },
    { capabilities: { tools: {} }, instructions: butler.description },
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
    return callTool(bound, params.arguments ?? {}, options);
  });
  return server;
}

async function callTool(
  { tool, operation }: BoundTool,
  given: Record<string, unknown>,
  { schema, execute, logger }: McpServerOptions,
): Promise<CallToolResult> {
  try {
    const answer = await execute(operation.document, toVariables(operation, given));
    if (answer.errors?.[0] !== undefined) throw answer.errors[0];
    const value = answer.data?.[operation.resultName] ?? null;
    if (value === null) throw new MemoryError('NOT_FOUND', 'nothing is there under that id');
    const result = toPlainJson(toToolResult(schema, operation.fieldNode, operation.field, value));
    return { content: [{ type: 'text', text: tool.describe(result as never) }], structuredContent: result };
  } catch (error) {
    return toToolError(error, logger);
  }
}

/** Dates become text here, as they would on the wire. */
function toPlainJson(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}
