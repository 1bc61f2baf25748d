import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isRequiredInputField,
  Kind,
  parse,
  typeFromAST,
  validate,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type OperationTypeNode,
} from 'graphql';
import { isProblem, possibleTypes } from './payload.ts';
import { askForTypeNames, responseName, selectedFields } from './selection.ts';

/** Of a tool or of anything else that is read through the schema; the name is for the message when it does not fit. */
export interface NamedOperation {
  name: string;
  operation: string;
}

export interface ToolArgument {
  /** As GraphQL names it. */
  name: string;
  type: GraphQLInputType;
  /** Not when there is a default, even if null is refused. */
  isRequired: boolean;
  description: string;
}

/** A tool's operation, read once against the schema. */
export interface Operation {
  document: DocumentNode;
  kind: OperationTypeNode;
  /** The top-level field that answers, under the name it has in the answer. */
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

/** What would only show when the tool is called. */
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
