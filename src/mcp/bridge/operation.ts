import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isRequiredInputField,
  Kind,
  parse,
  typeFromAST,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** A GraphQL operation of a tool, prompt or resource. The name is for the message when it does not fit the schema. */
export interface NamedOperation {
  name: string;
  operation: string;
}

export interface ToolArgument {
  /** The GraphQL name, in camelCase. */
  name: string;
  type: GraphQLInputType;
  /** False where there is a default, even if null is refused. */
  isRequired: boolean;
  description: string;
}

/** An operation, parsed once and validated against the schema. */
export interface Operation {
  document: DocumentNode;
  kind: OperationTypeNode;
  /** Response name of the one top-level field. */
  resultName: string;
  field: GraphQLField<unknown, unknown>;
  fieldNode: FieldNode;
  arguments: ToolArgument[];
  /** Whether the arguments are the fields of one `$input`. */
  hasInputObject: boolean;
}

export function readOperation(schema: GraphQLSchema, { name, operation }: NamedOperation): Operation {
  const given = parse(operation);
  const [problem] = validate(schema, given);
  if (problem !== undefined) throw new Error(`operation of ${name}: ${problem.message}`);
  const document = askForTypeNames(schema, given);
  const definition = document.definitions[0] as OperationDefinitionNode;
  const fieldNode = definition.selectionSet.selections[0];
  const root = schema.getRootType(definition.operation) as GraphQLObjectType;
  if (fieldNode?.kind !== Kind.FIELD) throw new Error(`operation of ${name}: one top-level field is needed`);
  const field = root.getFields()[fieldNode.name.value] as GraphQLField<unknown, unknown>;
  const flaw = document.definitions.length > 1 ? 'fragments must be inline' : findFlaw(schema, field, fieldNode);
  if (flaw !== undefined) throw new Error(`operation of ${name}: ${flaw}`);
  const hasInputObject = definition.variableDefinitions?.[0]?.variable.name.value === 'input';
  return {
    document,
    kind: definition.operation,
    fieldNode,
    field,
    resultName: responseName(fieldNode),
    hasInputObject,
    arguments: hasInputObject ? inputFields(field) : variables(schema, definition, field),
  };
}

/** Returns why the operation could not serve a tool: a flaw that would otherwise show when it is called. */
function findFlaw(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  { selectionSet }: FieldNode,
): string | undefined {
  const type = getNamedType(field.type);
  if (!isCompositeType(type) || isListType(getNullableType(field.type))) return 'its result must be one object';
  for (const possible of possibleTypes(schema, type).filter(isProblem)) {
    const names = selectedFields(schema, selectionSet, possible).map((selected) => selected.name);
    const missing = ['code', 'message', 'hint'].filter((wanted) => !names.includes(wanted));
    if (missing.length > 0) return `it must ask for ${missing.join(', ')} of ${possible.name}`;
  }
  return undefined;
}

function inputFields(field: GraphQLField<unknown, unknown>): ToolArgument[] {
  const input = field.args.find(({ name }) => name === 'input');
  const type = input && getNamedType(input.type);
  if (type === undefined || !('getFields' in type)) return [];
  return Object.values(type.getFields()).map(toArgument);
}

export function toArgument(field: GraphQLInputField): ToolArgument {
  const { name, type, description } = field;
  return { name, type, isRequired: isRequiredInputField(field), description: description ?? '' };
}

function variables(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  field: GraphQLField<unknown, unknown>,
): ToolArgument[] {
  return (definition.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const description = field.args.find((argument) => argument.name === name)?.description ?? '';
    const isRequired = type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined;
    return { name, type: typeFromAST(schema, type as never) as GraphQLInputType, isRequired, description };
  });
}

export interface SelectedField {
  /** Its name in the response. */
  name: string;
  field: GraphQLField<unknown, unknown>;
  node: FieldNode;
}

/** Alias of a field whose own fields are merged into the object around it. */
export const inlined = 'inlined';

/** Returns the fields that a selection asks for on a value of this type, without `__typename`. */
export function selectedFields(
  schema: GraphQLSchema,
  set: SelectionSetNode | undefined,
  type: GraphQLObjectType,
): SelectedField[] {
  return (set?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      return appliesTo(schema, condition, type) ? selectedFields(schema, selection.selectionSet, type) : [];
    }
    const field = type.getFields()[selection.name.value];
    return field === undefined ? [] : [{ name: responseName(selection), field, node: selection }];
  });
}

function responseName({ alias, name }: FieldNode): string {
  return alias?.value ?? name.value;
}

function appliesTo(schema: GraphQLSchema, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

/** Adds `__typename` to each selection on an abstract type, so that operations need not ask for it. */
function askForTypeNames(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
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

/** Returns the object types that a value of this type can have. */
export function possibleTypes(schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] {
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [type as GraphQLObjectType];
}

/** Returns whether a mutation answers with this type when it refuses. */
export function isProblem(type: GraphQLObjectType): boolean {
  return type.getInterfaces().some(({ name }) => name === 'Problem');
}

/**
 * Returns the only object that the operation selects from a mutation's payload; the tool then answers with that object,
 * without the payload around it. Undefined if it selects several fields, or if the field's type is not a payload.
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
