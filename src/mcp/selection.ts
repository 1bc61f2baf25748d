import {
  isAbstractType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

export interface SelectedField {
  /** As it is in the answer. */
  name: string;
  field: GraphQLField<unknown, unknown>;
  node: FieldNode;
}

/** A field under this alias is not told as an object of its own: what is in it stands among its neighbours. */
export const inlined = 'inlined';

/** What a selection asks for where the value is of this type; `__typename` is left out. */
export function selectedFields(
  schema: GraphQLSchema,
  set: SelectionSetNode | undefined,
  type: GraphQLObjectType,
): SelectedField[] {
  return (set?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      return isMeant(schema, condition, type) ? selectedFields(schema, selection.selectionSet, type) : [];
    }
    const field = type.getFields()[selection.name.value];
    return field === undefined ? [] : [{ name: responseName(selection), field, node: selection }];
  });
}

export function responseName({ alias, name }: FieldNode): string {
  return alias?.value ?? name.value;
}

function isMeant(schema: GraphQLSchema, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

/** Asks for the name of the type wherever there may be several, so that a tool's operation need not. */
export function askForTypeNames(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const typeInfo = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(typeInfo, {
      SelectionSet: (set) =>
        isAbstractType(typeInfo.getParentType()) && !set.selections.some(isTypeName)
          ? { ...set, selections: [typeName, ...set.selections] }
          : undefined,
    }),
  );
}

const typeName: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

function isTypeName(selection: SelectionNode): boolean {
  return selection.kind === Kind.FIELD && selection.alias === undefined && selection.name.value === '__typename';
}
