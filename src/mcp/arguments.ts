import { getNullableType, isInputObjectType, isListType, type GraphQLInputType } from 'graphql';
import { invalidInput } from '../errors.ts';
import type { Operation } from './operation.ts';
import { toSnakeCase } from '../names.ts';

type Values = Record<string, unknown>;

/** The variables of the operation, from a tool's arguments. Names inside free-form values are left as they are. */
export function toVariables(operation: Operation, given: Values): Values {
  const values = renameFields(operation.arguments, given);
  return operation.hasInputObject ? { input: values } : values;
}

function renameFields(fields: readonly { name: string; type: GraphQLInputType }[], given: Values): Values {
  const byName = new Map(fields.map((field) => [toSnakeCase(field.name), field]));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const field = byName.get(name);
      if (field === undefined) throw invalidInput('argument', describeNames([...byName.keys()]), name);
      return [field.name, renameValue(field.type, value)];
    }),
  );
}

function describeNames(names: string[]): string {
  return names.length === 0 ? 'none, as there are none' : `one of ${names.join(', ')}`;
}

function renameValue(given: GraphQLInputType, value: unknown): unknown {
  const type = getNullableType(given);
  if (isListType(type) && Array.isArray(value)) {
    return value.map((item) => renameValue(type.ofType, item));
  }
  if (isInputObjectType(type) && typeof value === 'object' && value !== null) {
    return renameFields(Object.values(type.getFields()), value as Values);
  }
  return value;
}
