import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  Kind,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { toSnakeCase } from '../names.ts';

type Values = Record<string, unknown>;

/**
 * The answer with its field names in snake_case. Free-form values (metadata) keep the names they were stored with.
 * Where a field may be of several types, its selection must ask for `__typename`; the name itself is left out.
 */
export function toToolResult(
  schema: GraphQLSchema,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  value: unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item) => toToolResult(schema, node, field, item));
  const named = getNamedType(field.type);
  if (value === null || !isCompositeType(named) || node.selectionSet === undefined) return value;
  const values = value as Values;
  const type = isAbstractType(named) ? schema.getType(values['__typename'] as string) : named;
  const fields = (type as GraphQLObjectType).getFields();
  return Object.fromEntries(
    selectedFields(node.selectionSet, (type as GraphQLObjectType).name).map((selection) => {
      const name = selection.alias?.value ?? selection.name.value;
      const inner = fields[selection.name.value] as GraphQLField<unknown, unknown>;
      return [toSnakeCase(name), toToolResult(schema, selection, inner, values[name])];
    }),
  );
}

function selectedFields(set: SelectionSetNode, typeName: string): FieldNode[] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value === '__typename' ? [] : [selection];
    if (selection.kind !== Kind.INLINE_FRAGMENT) return [];
    const isMeant = selection.typeCondition === undefined || selection.typeCondition.name.value === typeName;
    return isMeant ? selectedFields(selection.selectionSet, typeName) : [];
  });
}
