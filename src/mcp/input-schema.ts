import { getNullableType, isEnumType, isInputObjectType, isListType, type GraphQLInputType } from 'graphql';
import { toSnakeCase } from '../shared/names.ts';
import { scalarSchema, type JsonSchema, type ObjectSchema } from './json-schema.ts';
import { toArgument, type Operation, type ToolArgument } from './operation.ts';
import { requestContextName, requestContextSchema } from './request-context.ts';

export function inputSchemaOf(operation: Operation): ObjectSchema {
  const schema = objectSchema(operation.arguments);
  return { ...schema, properties: { ...schema.properties, [requestContextName]: requestContextSchema } };
}

function objectSchema(fields: readonly ToolArgument[]): ObjectSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, type, description }) => [toSnakeCase(name), { ...schemaOf(type), description }]),
    ),
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => toSnakeCase(name)),
    additionalProperties: false,
  };
}

function schemaOf(given: GraphQLInputType): JsonSchema {
  const type = getNullableType(given);
  if (isListType(type)) return { type: 'array', items: schemaOf(type.ofType) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (isInputObjectType(type)) return objectSchema(Object.values(type.getFields()).map(toArgument));
  return scalarSchema(type.name);
}
