import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import type { GraphQLSchema } from 'graphql';
import { describeGiven } from '../shared/errors.ts';
import { runOperation, type CallOptions } from './bridge/call-tool.ts';
import { readOperation, type Operation } from './bridge/operation.ts';
import { ProtocolError, resourceNotFound, toProtocolError } from './errors.ts';
import { requests } from './requests.ts';
import { memoryFields } from './tools/fields.ts';
import { statsTool } from './tools/manage.ts';
import type { GroupedTool } from './tools/tool.ts';

const mimeType = 'application/json';

/** The memory types with a resource template: memory://<type>/{id}. */
const memoryTypes = { episode: 'Episode', fact: 'Fact', rule: 'Rule' } as const;

const memoryOperation = /* GraphQL */ `
  query MemoryResource($type: MemoryType!, $id: String!) {
    memory(type: $type, id: $id, countReference: true) { ${memoryFields} }
  }
`;

/** Resources without a parameter: each answers like a tool without arguments. */
const fixedResources: Readonly<Record<string, GroupedTool>> = { 'memory://stats': statsTool };

export interface BoundResources {
  memory: Operation;
  fixed: ReadonlyMap<string, { resource: Resource; operation: Operation }>;
}

/** Parses the operations of all resources. One that does not fit the schema stops the start. */
export function bindResources(schema: GraphQLSchema): BoundResources {
  const bindFixed = ([uri, tool]: [string, GroupedTool]): [string, { resource: Resource; operation: Operation }] => {
    const operation = readOperation(schema, tool);
    const name = uri.replace('memory://', '');
    return [
      uri,
      {
        resource: { uri, name, title: tool.title, description: operation.field.description ?? '', mimeType },
        operation,
      },
    ];
  };
  return {
    memory: readOperation(schema, { name: 'memory://', operation: memoryOperation }),
    fixed: new Map(Object.entries(fixedResources).map(bindFixed)),
  };
}

export function serveResources(server: Server, resources: BoundResources, options: CallOptions): void {
  server.setRequestHandler(requests.listResources, () => ({
    resources: [...resources.fixed.values()].map(({ resource }) => resource),
  }));
  server.setRequestHandler(requests.listResourceTemplates, () => ({
    resourceTemplates: listTemplates(options.schema),
  }));
  server.setRequestHandler(requests.readResource, async ({ params: { uri } }) => {
    const { operation, variables } = findResource(resources, uri);
    const value = await runOperation({ ...options, operation, variables }).catch((error: unknown) => {
      throw toProtocolError(error, options.logger);
    });
    if (value === null) throw notFound(uri, 'nothing is there under that id');
    return { contents: [{ uri, mimeType, text: JSON.stringify(value) }] };
  });
}

function listTemplates(schema: GraphQLSchema): ResourceTemplate[] {
  return Object.entries(memoryTypes).map(([type, typeName]) => ({
    name: type,
    title: typeName,
    uriTemplate: `memory://${type}/{id}`,
    description: `${schema.getType(typeName)?.description ?? ''} By its UUID, whatever its state.`,
    mimeType,
  }));
}

function findResource(
  { memory, fixed }: BoundResources,
  uri: string,
): { operation: Operation; variables: Record<string, unknown> } {
  const resource = fixed.get(uri);
  if (resource !== undefined) return { operation: resource.operation, variables: {} };
  const [, type = '', id] = /^memory:\/\/(\w+)\/([^/?#]+)$/.exec(uri) ?? [];
  if (Object.hasOwn(memoryTypes, type)) return { operation: memory, variables: { type, id } };
  const templates = Object.keys(memoryTypes).map((name) => `memory://${name}/{id}`);
  throw notFound(uri, `one of ${[...fixed.keys(), ...templates].join(', ')}`);
}

function notFound(uri: string, allowed: string): ProtocolError {
  return new ProtocolError(resourceNotFound, `resource must be ${allowed} (got ${describeGiven(uri)})`, { uri });
}
