import { isDeepStrictEqual } from 'node:util';
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { toSnakeCase } from '../../shared/names.ts';
import {
  findPayloadField,
  inlined,
  isProblem,
  possibleTypes,
  selectedFields,
  toArgument,
  type Operation,
  type ToolArgument,
} from './operation.ts';
import { requestContextName, requestContextSchema, type JsonSchema, type ObjectSchema } from './request-context.ts';

/** Returns the JSON schema of a tool's arguments. */
export function buildInputSchema(operation: Operation): ObjectSchema {
  const schema = argumentsSchema(operation.arguments);
  return { ...schema, properties: { ...schema.properties, [requestContextName]: requestContextSchema } };
}

function argumentsSchema(fields: readonly ToolArgument[]): ObjectSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, type, description }) => [toSnakeCase(name), { ...argumentSchema(type), description }]),
    ),
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => toSnakeCase(name)),
    additionalProperties: false,
  };
}

function argumentSchema(given: GraphQLInputType): JsonSchema {
  const type = getNullableType(given);
  if (isListType(type)) return { type: 'array', items: argumentSchema(type.ofType) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (isInputObjectType(type)) return argumentsSchema(Object.values(type.getFields()).map(toArgument));
  return inputScalarSchemas[type.name] ?? scalarSchema(type.name);
}

/**
 * Returns the JSON schema of what `toToolResult` returns. It has no descriptions: they would double what a client, and
 * often its model, reads before the first call.
 */
export function buildOutputSchema(schema: GraphQLSchema, operation: Operation): ObjectSchema {
  const { field, fieldNode } = operation;
  const payloads = possibleTypes(schema, getNamedType(field.type)).filter((type) => !isProblem(type));
  const merged = merge(
    payloads.map((type) => {
      const inner = findPayloadField(schema, operation, type);
      return inner === undefined
        ? objectSchema(schema, type, fieldNode.selectionSet)
        : anyOfTypes(schema, getNamedType(inner.field.type), inner.node.selectionSet);
    }),
  );
  return { ...merged, properties: { ...merged.properties, [requestContextName]: requestContextSchema } };
}

function anyOfTypes(schema: GraphQLSchema, type: GraphQLNamedType, set: SelectionSetNode | undefined): ObjectSchema {
  return merge(possibleTypes(schema, type).map((possible) => objectSchema(schema, possible, set)));
}

function objectSchema(schema: GraphQLSchema, type: GraphQLObjectType, set: SelectionSetNode | undefined): ObjectSchema {
  const parts = selectedFields(schema, set, type).map(({ name, field, node }): ObjectSchema => {
    if (name === inlined) {
      const inner = anyOfTypes(schema, getNamedType(field.type), node.selectionSet);
      return isNonNullType(field.type) ? inner : { ...inner, required: [] };
    }
    const property = toSnakeCase(name);
    const properties = { [property]: buildSchema(schema, field.type, node.selectionSet) };
    return { type: 'object', properties, required: [property] };
  });
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as ObjectSchema['properties'],
    required: parts.flatMap(({ required }) => required),
  };
}

function buildSchema(schema: GraphQLSchema, type: GraphQLOutputType, set: SelectionSetNode | undefined): JsonSchema {
  if (!isNonNullType(type)) return orNull(presentSchema(schema, type, set));
  return presentSchema(schema, type.ofType, set);
}

function presentSchema(schema: GraphQLSchema, type: GraphQLOutputType, set: SelectionSetNode | undefined): JsonSchema {
  if (isListType(type)) return { type: 'array', items: buildSchema(schema, type.ofType, set) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const named = getNamedType(type);
  return isCompositeType(named) ? anyOfTypes(schema, named, set) : scalarSchema(named.name);
}

function orNull(schema: JsonSchema): JsonSchema {
  const values = schema['enum'] as unknown[] | undefined;
  return { ...schema, type: [schema['type'], 'null'], ...(values && { enum: [...values, null] }) };
}

/** Returns one schema that fits all of these objects: a property is required if all of them require it. */
function merge(schemas: readonly ObjectSchema[]): ObjectSchema {
  const names = new Set(schemas.flatMap(({ properties }) => Object.keys(properties)));
  return {
    type: 'object',
    properties: Object.fromEntries([...names].map((name) => [name, mergeProperty(schemas, name)])),
    required: [...names].filter((name) => schemas.every(({ required }) => required.includes(name))),
  };
}

function mergeProperty(schemas: readonly ObjectSchema[], name: string): JsonSchema {
  const found = schemas.flatMap(({ properties }): JsonSchema[] => (name in properties ? [properties[name] ?? {}] : []));
  const distinct = found.filter(
    (schema, index) => found.findIndex((other) => isDeepStrictEqual(other, schema)) === index,
  );
  return distinct.length === 1 ? (distinct[0] as JsonSchema) : { anyOf: distinct };
}

function scalarSchema(name: string): JsonSchema {
  return scalarSchemas[name] ?? { type: 'string' };
}

/** What an argument takes beside what an answer has: a day stands for its first moment. */
const inputScalarSchemas: Record<string, JsonSchema> = {
  DateTime: { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\d` },
};

const scalarSchemas: Record<string, JsonSchema> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  JSONObject: { type: 'object' },
};
