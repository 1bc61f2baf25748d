import * as fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
} from 'graphql';
import { schema } from '../../src/graphql/schema.ts';
import { tools } from '../../src/mcp/tools/tools.ts';
import { broken, jsonObjects, jsonValues, numbers, texts } from './texts.ts';

type Field = GraphQLField<unknown, unknown>;

const rootFields = (['Query', 'Mutation'] as const).flatMap((root) =>
  Object.values((schema.getType(root) as GraphQLObjectType).getFields()).map((field): [string, Field] => [root, field]),
);

/** A value that the type takes, as far as one can tell by the type, of which most are refused by what they say. */
function valueOf(type: GraphQLInputType, depth = 0): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return valueOf(type.ofType, depth).map((value) => value ?? '');
  const plain = plainValueOf(type, depth);
  return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 5, arbitrary: plain });
}

function plainValueOf(given: GraphQLInputType, depth: number): fc.Arbitrary<unknown> {
  const type = getNullableType(given);
  if (isListType(type)) return fc.array(valueOf(type.ofType, depth + 1), { maxLength: 3 });
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name));
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const required = fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name);
    return fc.record(Object.fromEntries(fields.map((field) => [field.name, valueOf(field.type, depth + 1)])), {
      requiredKeys: required,
    });
  }
  return scalars[type.name] ?? texts;
}

const moments = fc.constantFrom(
  '2026-03-01T12:00:00.000Z',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  'now',
);

const scalars: Record<string, fc.Arbitrary<unknown>> = {
  Int: numbers.map(Math.trunc),
  Float: numbers,
  Boolean: fc.boolean(),
  DateTime: moments,
  UUID: fc.oneof(fc.uuid(), texts),
  ID: fc.oneof(
    fc.uuid().map((id) => `fact:${id}`),
    texts,
  ),
  JSONObject: fc.oneof(fc.dictionary(texts, jsonValues, { maxKeys: 4 }), jsonObjects),
};

/** Its leaves, and for a while some of what they lead to. */
function selectionOf(type: GraphQLCompositeType, ways: readonly number[], depth = 0): string {
  const parts = isObjectType(type) ? [type] : schema.getPossibleTypes(type);
  const body = parts.map((part) => {
    const fields = Object.values(part.getFields()).filter((field) => !field.args.some(isRequiredArgument));
    const leaves = fields.filter((field) => !isCompositeType(getNamedType(field.type))).map(({ name }) => name);
    const others = fields.filter((field) => isCompositeType(getNamedType(field.type)));
    const chosen = depth < ways.length && others.length > 0 ? others[(ways[depth] ?? 0) % others.length] : undefined;
    const next =
      chosen &&
      `${part.name}_${chosen.name}: ${chosen.name} ${selectionOf(getNamedType(chosen.type) as GraphQLCompositeType, ways, depth + 1)}`;
    return `... on ${part.name} { __typename ${leaves.map((name) => `${part.name}_${name}: ${name}`).join(' ')} ${next ?? ''} }`;
  });
  return `{ ${body.join(' ')} }`;
}

export interface GraphQLBody {
  query: string;
  variables: Record<string, unknown>;
}

/** Documents that fit the schema, with values that mostly do not fit the world. */
export const graphqlRequests: fc.Arbitrary<GraphQLBody> = fc
  .tuple(fc.constantFrom(...rootFields), fc.array(fc.nat(20), { maxLength: 3 }))
  .chain(([[root, field], ways]) => {
    const variables = fc.record(
      Object.fromEntries(field.args.map((argument) => [argument.name, valueOf(argument.type)])),
      {
        requiredKeys: field.args.filter(isRequiredArgument).map(({ name }) => name),
      },
    );
    const named = getNamedType(field.type);
    const head = field.args.map(({ name, type }) => `$${name}: ${type.toString()}`).join(', ');
    const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
    const wrap = (text: string): string => (text === '' ? '' : `(${text})`);
    const selection = isCompositeType(named) ? selectionOf(named, ways) : '';
    const query = `${root.toLowerCase()} Fuzz${wrap(head)} { ${field.name}${wrap(passed)} ${selection} }`;
    return variables.map((given) => ({ query, variables: given as Record<string, unknown> }));
  });

const shortDocuments = fc.constantFrom(
  '{ stats { at facts { total } } }',
  'query Q($id: String!) { memory(type: fact, id: $id) { __typename ... on Fact { subject } } }',
  'mutation M { storeFact(input: { subject: "a", predicate: "b", content: "c" }) { __typename } }',
  'fragment F on Fact { id } query { facts(first: 2) { edges { node { ...F } } } }',
  'subscription { activity { uuid } }',
  '{ __schema { queryType { name } } __type(name: "Fact") { name } }',
  'query A { health { status } } query B { health { status } }',
  '{ facts(first: 3, filter: { scope: "global" }) @include(if: true) { totalCount } }',
);

/** Bodies of which most are no request: the document, or what is around it, is broken. */
export const brokenGraphqlBodies: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: broken(shortDocuments).map((query) => JSON.stringify({ query })) },
  { weight: 1, arbitrary: broken(shortDocuments.map((query) => JSON.stringify({ query, variables: { id: 'x' } }))) },
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          query: fc.oneof(shortDocuments, jsonValues),
          variables: jsonValues,
          operationName: jsonValues,
          extensions: jsonValues,
        },
        { requiredKeys: [] },
      )
      .map((body) => JSON.stringify(body)),
  },
  { weight: 1, arbitrary: texts },
);

const toolNames = tools.map(({ name }) => name);
const argumentNames = [
  'id',
  'type',
  'query',
  'topic',
  'content',
  'butler',
  'subject',
  'predicate',
  'limit',
  'scope',
  'rule_id',
  'run_id',
  'event_id',
  'receipt_id',
  'episodes',
  'requests',
  'output',
  'tags',
  'trigger_prompt',
  'request_context',
  'since',
  'metadata',
  'tier',
];

const toolArguments = fc.dictionary(
  fc.constantFrom(...argumentNames),
  fc.oneof(texts, numbers, jsonValues, fc.constantFrom('episode', 'fact', 'rule', 'eden', 'mid')),
  { maxKeys: 6 },
);

/** Calls that are right but for the JSON in them: what is stored is what a sweep reads later. */
const storingCalls = fc.oneof(
  jsonObjects.map((metadata) => ['memory_store_episode', { butler: 'fuzz', content: 'The user likes tea.', metadata }]),
  fc
    .tuple(jsonObjects, texts)
    .map(([metadata, text]) => ['memory_store_fact', { subject: 'user', predicate: 'fuzz', content: text, metadata }]),
  jsonObjects.map((metadata) => ['memory_store_rule', { content: 'Ask before ordering', metadata }]),
  jsonObjects.map((output) => [
    'memory_consolidation_submit',
    { run_id: '01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a', output },
  ]),
);

/** Calls that are frames of the protocol, of tools, resources and prompts that there are. */
export const mcpCalls: fc.Arbitrary<unknown> = fc
  .oneof(
    {
      weight: 5,
      arbitrary: fc
        .record({ name: fc.constantFrom<string>(...toolNames), arguments: toolArguments })
        .map((params) => ['tools/call', params]),
    },
    {
      weight: 2,
      arbitrary: storingCalls.map(([name, given]) => ['tools/call', { name, arguments: given }]),
    },
    { weight: 1, arbitrary: texts.map((text) => ['resources/read', { uri: `memory://fact/${text}` }]) },
    {
      weight: 1,
      arbitrary: texts.map((text) => ['prompts/get', { name: 'consolidate', arguments: { butler: text } }]),
    },
  )
  .map(([method, params]) => ({ jsonrpc: '2.0', id: 1, method, params }));

const methods = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'notifications/initialized',
  'notifications/cancelled',
  'logging/setLevel',
  'completion/complete',
  'sampling/createMessage',
  '__proto__',
  '',
];

export const brokenMcpBodies: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record(
        {
          jsonrpc: fc.oneof({ weight: 4, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: jsonValues }),
          id: jsonValues,
          method: fc.oneof(fc.constantFrom(...methods), jsonValues),
          params: jsonValues,
        },
        { requiredKeys: [] },
      )
      .map((frame) => JSON.stringify(frame)),
  },
  {
    weight: 2,
    arbitrary: broken(
      fc.constant('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_stats","arguments":{}}}'),
    ),
  },
  { weight: 1, arbitrary: fc.array(jsonValues, { maxLength: 3 }).map((batch) => JSON.stringify(batch)) },
  { weight: 1, arbitrary: texts },
);
