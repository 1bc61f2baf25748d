import { isDeepStrictEqual } from 'node:util';
import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { toSnakeCase } from '../shared/names.ts';
import { scalarSchema, type JsonSchema, type ObjectSchema } from './json-schema.ts';
import type { Operation } from './operation.ts';
import { findPayloadField, isProblem, possibleTypes } from './payload.ts';
import { requestContextName, requestContextSchema } from './request-context.ts';
import { inlined, selectedFields } from './selection.ts';

/**
 * Of what `toToolResult` makes of the operation's answer. Without the descriptions, which schema.graphql has: they would
 * double what a client reads, and often what its model reads, before the first call.
 */
export function outputSchemaOf(schema: GraphQLSchema, operation: Operation): ObjectSchema {
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
    if (name === inlined) return anyOfTypes(schema, getNamedType(field.type), node.selectionSet);
    const property = toSnakeCase(name);
    const properties = { [property]: schemaOf(schema, field.type, node.selectionSet) };
    return { type: 'object', properties, required: [property] };
  });
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as ObjectSchema['properties'],
    required: parts.flatMap(({ required }) => required),
  };
}

function schemaOf(schema: GraphQLSchema, type: GraphQLOutputType, set: SelectionSetNode | undefined): JsonSchema {
  if (!isNonNullType(type)) return orNull(presentSchema(schema, type, set));
  return presentSchema(schema, type.ofType, set);
}

function presentSchema(schema: GraphQLSchema, type: GraphQLOutputType, set: SelectionSetNode | undefined): JsonSchema {
  if (isListType(type)) return { type: 'array', items: schemaOf(schema, type.ofType, set) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const named = getNamedType(type);
  return isCompositeType(named) ? anyOfTypes(schema, named, set) : scalarSchema(named.name);
}

function orNull(schema: JsonSchema): JsonSchema {
  const values = schema['enum'] as unknown[] | undefined;
  return { ...schema, type: [schema['type'], 'null'], ...(values && { enum: [...values, null] }) };
}

/** One schema that fits them all: only what all of them have is required. */
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
