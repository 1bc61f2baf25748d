import { getNullableType, isEnumType, isInputObjectType, isListType, type GraphQLInputType } from 'graphql';
import { toSnakeCase } from '../names.ts';
import { toArgument, type Operation, type ToolArgument } from './operation.ts';

type JsonSchema = Record<string, unknown>;

export interface ObjectSchema extends JsonSchema {
  type: 'object';
  properties: Record<string, JsonSchema>;
  required: string[];
  additionalProperties: false;
}

export function inputSchemaOf(operation: Operation): ObjectSchema {
  return objectSchema(operation.arguments);
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
  return scalarSchemas[type.name] ?? { type: 'string' };
}

const scalarSchemas: Record<string, JsonSchema> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  JSONObject: { type: 'object' },
};
