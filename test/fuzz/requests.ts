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
import { writeCursor } from '../../src/memory/cursors.ts';
import { tools } from '../../src/mcp/tools/tools.ts';
import { broken, jsonObjects, jsonValues, numbers, texts } from './texts.ts';

export type Field = GraphQLField<unknown, unknown>;

export const rootFields = (['Query', 'Mutation'] as const).flatMap((root) =>
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

const encode = (text: string): string => Buffer.from(text).toString('base64url');
const lists = ['accesses', 'jobRuns', 'consolidationRuns', 'timeline', 'asOf.facts', 'diff.changes', 'fading'];

/** Cursors that a caller forged: of no form, of a form that was, and of ours with a position that is none. */
export const cursors: fc.Arbitrary<unknown> = fc.oneof(
  texts,
  fc.oneof(texts, numbers).map((offset) => Buffer.from(`OffsetConnection:${offset}`).toString('base64')),
  jsonValues.map((value) => encode(JSON.stringify(value))),
  fc
    .tuple(fc.constantFrom(...lists), fc.array(fc.oneof(numbers, texts, jsonValues), { maxLength: 3 }))
    .map(([list, position]) => writeCursor(list, position)),
);

const moments = fc.constantFrom(
  '2026-03-01T12:00:00.000Z',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  'now',
);

export const scalars: Record<string, fc.Arbitrary<unknown>> = {
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

/** The arguments of a field as variables of the document, whose names begin with `prefix`. */
function argumentsOf(field: Field, prefix: string): { passed: string; head: string[]; values: Variables } {
  const named = field.args.map((argument) => ({ ...argument, variable: `${prefix}${argument.name}` }));
  const passed = named.map(({ name, variable }) => `${name}: $${variable}`).join(', ');
  return {
    passed: passed === '' ? '' : `(${passed})`,
    head: named.map(({ variable, type }) => `$${variable}: ${type.toString()}`),
    values: Object.fromEntries(named.map((argument) => [argument.variable, argumentValue(argument)])),
  };
}

type Variables = Record<string, fc.Arbitrary<unknown>>;

function argumentValue({ name, type }: Field['args'][number]): fc.Arbitrary<unknown> {
  return ['after', 'before'].includes(name) && getNamedType(type).name === 'String' ? cursors : valueOf(type);
}

interface Selection {
  text: string;
  head: string[];
  values: Variables;
}

/** Its leaves, and for a while some of what they lead to. */
function selectionOf(type: GraphQLCompositeType, ways: readonly number[], depth = 0): Selection {
  const head: string[] = [];
  const values: Variables = {};
  const parts = isObjectType(type) ? [type] : schema.getPossibleTypes(type);
  const body = parts.map((part) => {
    const fields = Object.values(part.getFields());
    const leaves = fields
      .filter((field) => !isCompositeType(getNamedType(field.type)) && !field.args.some(isRequiredArgument))
      .map(({ name }) => name);
    const others = fields.filter((field) => isCompositeType(getNamedType(field.type)));
    const chosen = depth < ways.length && others.length > 0 ? others[(ways[depth] ?? 0) % others.length] : undefined;
    const next = chosen && nextSelection(part.name, chosen);
    return `... on ${part.name} { __typename ${leaves.map((name) => `${part.name}_${name}: ${name}`).join(' ')} ${next ?? ''} }`;
  });
  return { text: `{ ${body.join(' ')} }`, head, values };

  function nextSelection(part: string, field: Field): string {
    const given = argumentsOf(field, `${part}${depth}_`);
    const inner = selectionOf(getNamedType(field.type) as GraphQLCompositeType, ways, depth + 1);
    head.push(...given.head, ...inner.head);
    Object.assign(values, given.values, inner.values);
    return `${part}_${field.name}: ${field.name}${given.passed} ${inner.text}`;
  }
}

export interface GraphQLBody {
  query: string;
  variables: Record<string, unknown>;
}

/** Documents that fit the schema, with values that mostly do not fit the world. */
export const graphqlRequests: fc.Arbitrary<GraphQLBody> = fc
  .tuple(fc.constantFrom(...rootFields), fc.array(fc.nat(20), { maxLength: 3 }))
  .chain(([[root, field], ways]) => {
    const given = argumentsOf(field, '');
    const named = getNamedType(field.type);
    const selection = isCompositeType(named) ? selectionOf(named, ways) : { text: '', head: [], values: {} };
    const head = [...new Set([...given.head, ...selection.head])];
    const query = `${root.toLowerCase()} Fuzz${head.length === 0 ? '' : `(${head.join(', ')})`} { ${field.name}${given.passed} ${selection.text} }`;
    const requiredKeys = head.filter((one) => one.endsWith('!')).map((one) => one.slice(1, one.indexOf(':')));
    return fc
      .record({ ...given.values, ...selection.values }, { requiredKeys })
      .map((variables) => ({ query, variables }));
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

/** Parameters of a GET: each there or not, whole or broken. */
export const graphqlParameters: fc.Arbitrary<string> = fc
  .record(
    {
      query: fc.oneof(shortDocuments, texts),
      variables: fc.oneof(
        jsonValues.map((value) => JSON.stringify(value)),
        broken(fc.constant('{"id":"x"}')),
        texts,
      ),
      extensions: fc.oneof(
        jsonValues.map((value) => JSON.stringify(value)),
        broken(fc.constant('{"a":[1]}')),
        texts,
      ),
      operationName: texts,
    },
    { requiredKeys: [] },
  )
  // The WHATWG way: what is no text becomes one.
  .map((parameters) => new URLSearchParams(parameters).toString());

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

/** Handshakes of which a part is missing or of another type. */
const handshakes = fc
  .record(
    {
      protocolVersion: fc.oneof(fc.constantFrom<unknown>('2025-06-18', '2025-11-25', '1999-01-01'), jsonValues),
      capabilities: fc.oneof(fc.constant<unknown>({}), jsonValues),
      clientInfo: fc.oneof(fc.constant<unknown>({ name: 'x', version: '1' }), jsonValues),
      _meta: jsonValues,
    },
    { requiredKeys: [] },
  )
  .map((params) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));

export const brokenMcpBodies: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: handshakes },
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

/** Claims that an issuer signed all the same. */
export const jwtClaims: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    tenant: fc.oneof(fc.constant<unknown>('house'), texts, jsonValues),
    butler: fc.oneof(fc.constant<unknown>('home'), texts, jsonValues),
    role: fc.oneof(fc.constantFrom<unknown>('viewer', 'butler', 'operator', 'admin'), texts, jsonValues),
    across: fc.oneof(fc.constant<unknown>('all'), fc.array(texts, { maxLength: 2 }), texts, jsonValues),
    across_write: fc.oneof(fc.boolean(), jsonValues),
    sub: fc.oneof(texts, jsonValues),
    exp: fc.oneof(fc.constant<unknown>(4_000_000_000), numbers, jsonValues),
  },
  { requiredKeys: ['tenant', 'role', 'exp'] },
);
