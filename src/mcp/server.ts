import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ErrorCode, type Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { GraphQLSchema } from 'graphql';
import { describeGiven } from '../shared/errors.ts';
import { packageManifest } from '../shared/package-root.ts';
import type { ToolGroup } from '../config/tool-groups.ts';
import { callTool, type BoundTool, type CallOptions } from './bridge/call-tool.ts';
import { ProtocolError } from './errors.ts';
import { buildInputSchema, buildOutputSchema } from './bridge/json-schema.ts';
import { readOperation, type Operation } from './bridge/operation.ts';
import { bindPrompts, servePrompts, type BoundPrompts } from './prompts/prompts.ts';
import { bindResources, serveResources, type BoundResources } from './resources.ts';
import { requests } from './requests.ts';
import type { Tool } from './tools/tool.ts';
import { tools } from './tools/tools.ts';

export type BoundTools = ReadonlyMap<string, BoundTool>;

/** Reads every tool's operation against the schema: a tool that no longer fits it stops the start. */
export function bindTools(schema: GraphQLSchema): BoundTools {
  return new Map(
    tools.map((tool) => {
      const operation = readOperation(schema, tool);
      return [tool.name, { tool, operation, listed: listTool(schema, tool, operation) }];
    }),
  );
}

export interface Surface {
  tools: BoundTools;
  resources: BoundResources;
  prompts: BoundPrompts;
}

/** All that is served, read against the schema once. */
export function bindSurface(schema: GraphQLSchema): Surface {
  return { tools: bindTools(schema), resources: bindResources(schema), prompts: bindPrompts(schema) };
}

/** A tool that is left out is neither listed nor callable. */
export function selectTools(boundTools: BoundTools, groups: readonly ToolGroup[]): BoundTools {
  return new Map([...boundTools].filter(([, { tool }]) => groups.includes(tool.group)));
}

export interface McpServerOptions extends CallOptions, Surface {
  butler: { name: string; description: string };
  /** Whether the caller may ever call this; a tool that it may not is not listed, and refuses when it is called. */
  mayCall: (operation: Operation) => boolean;
}

/** One for each connection. */
export function createMcpServer(options: McpServerOptions): Server {
  const { butler } = options;
  const server = new Server(
    { name: `butler-memory (${butler.name})`, version: packageManifest.version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: butler.description },
  );
  // The SDK answers a malformed one with all that zod found, and has no other way in.
  server.setRequestHandler(requests.initialize, (request) => server['_oninitialize'](request));
  serveTools(server, options);
  serveResources(server, options.resources, options);
  servePrompts(server, options.prompts, options);
  return server;
}

function serveTools(server: Server, options: McpServerOptions): void {
  const { tools: boundTools, mayCall } = options;
  const offered = (): BoundTool[] => [...boundTools.values()].filter(({ operation }) => mayCall(operation));
  server.setRequestHandler(requests.listTools, () => ({ tools: offered().map(({ listed }) => listed) }));
  server.setRequestHandler(requests.callTool, async ({ params }) => {
    const bound = boundTools.get(params.name);
    if (bound === undefined) {
      const allowed = offered()
        .map(({ tool }) => tool.name)
        .join(', ');
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `tool must be one of ${allowed} (got ${describeGiven(params.name)})`,
      );
    }
    return callTool(bound, params.arguments ?? {}, options);
  });
}

function listTool(schema: GraphQLSchema, tool: Tool, operation: Operation): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: operation.field.description ?? '',
    inputSchema: buildInputSchema(operation),
    outputSchema: buildOutputSchema(schema, operation),
    annotations: tool.annotations,
  };
}
