import {
  getNamedType,
  isCompositeType,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { MemoryError, type ErrorCode } from '../../shared/errors.ts';
import { toSnakeCase } from '../../shared/names.ts';
import { findPayloadField, inlined, isProblem, possibleTypes, selectedFields, type Operation } from './operation.ts';

type Values = Record<string, unknown>;

/**
 * Renames the fields of the answer to snake_case; free-form values (metadata) keep their names. Throws the Problem that
 * a mutation answered with instead of its payload.
 */
export function toToolResult(schema: GraphQLSchema, operation: Operation, value: unknown): unknown {
  const { field, fieldNode } = operation;
  if (value === null) return null;
  const type = findType(schema, field, value as Values);
  if (isProblem(type)) throw toMemoryError(value as Problem);
  const payloadField = findPayloadField(schema, operation, type);
  return payloadField === undefined
    ? renameValue(schema, fieldNode, field, value)
    : renameValue(schema, payloadField.node, payloadField.field, (value as Values)[payloadField.name]);
}

interface Problem {
  code: ErrorCode;
  message: string;
  hint: string | null;
}

function toMemoryError({ code, message, hint }: Problem): MemoryError {
  return new MemoryError(code, message, hint === null ? {} : { hint });
}

function renameValue(
  schema: GraphQLSchema,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  value: unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item) => renameValue(schema, node, field, item));
  if (value === null || !isCompositeType(getNamedType(field.type))) return value;
  const type = findType(schema, field, value as Values);
  return Object.fromEntries(
    selectedFields(schema, node.selectionSet, type).flatMap((inner) => {
      const renamed = renameValue(schema, inner.node, inner.field, (value as Values)[inner.name]);
      return inner.name === inlined ? Object.entries((renamed ?? {}) as Values) : [[toSnakeCase(inner.name), renamed]];
    }),
  );
}

function findType(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>, value: Values): GraphQLObjectType {
  const possible = possibleTypes(schema, getNamedType(field.type));
  return (possible.find(({ name }) => name === value['__typename']) ?? possible[0]) as GraphQLObjectType;
}
