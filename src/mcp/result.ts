import { getNamedType, isCompositeType, Kind, type FieldNode, type GraphQLField } from 'graphql';
import { toSnakeCase } from './names.ts';

/** The answer with its field names in snake_case. Free-form values (metadata) keep the names they were stored with. */
export function toToolResult(node: FieldNode, field: GraphQLField<unknown, unknown>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => toToolResult(node, field, item));
  const type = getNamedType(field.type);
  if (value === null || !isCompositeType(type) || !('getFields' in type)) return value;
  const fields = type.getFields();
  const selected = node.selectionSet?.selections.filter((selection) => selection.kind === Kind.FIELD) ?? [];
  return Object.fromEntries(
    selected.map((selection) => {
      const name = selection.alias?.value ?? selection.name.value;
      const inner = fields[selection.name.value] as GraphQLField<unknown, unknown>;
      return [toSnakeCase(name), toToolResult(selection, inner, (value as Record<string, unknown>)[name])];
    }),
  );
}
