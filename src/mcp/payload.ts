import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { Operation } from './operation.ts';
import { selectedFields, type SelectedField } from './selection.ts';

/** The types that a value of this type may turn out to be. */
export function possibleTypes(schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] {
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [type as GraphQLObjectType];
}

/** What a mutation answers instead of its payload when it refuses. */
export function isProblem(type: GraphQLObjectType): boolean {
  return type.getInterfaces().some(({ name }) => name === 'Problem');
}

/**
 * The one object that a payload was asked for, which is then the tool's result without the payload around it. None
 * where several were asked for, or where the field's type stands alone and is no payload.
 */
export function findPayloadField(
  schema: GraphQLSchema,
  { field, fieldNode }: Operation,
  type: GraphQLObjectType,
): SelectedField | undefined {
  if (!possibleTypes(schema, getNamedType(field.type)).some(isProblem)) return undefined;
  const [only, ...others] = selectedFields(schema, fieldNode.selectionSet, type);
  if (only === undefined || others.length > 0) return undefined;
  const isObject = isCompositeType(getNamedType(only.field.type)) && !isListType(getNullableType(only.field.type));
  return isObject ? only : undefined;
}
