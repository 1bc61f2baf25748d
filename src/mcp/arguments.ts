import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  type GraphQLInputType,
  type GraphQLNullableType,
} from 'graphql';
import { invalidInput } from '../errors.ts';
import { toSnakeCase } from '../names.ts';
import { isPlainObject, parseJson } from './json-text.ts';
import { toArgument, type Operation, type ToolArgument } from './operation.ts';
import { requestContextName } from './request-context.ts';

type Values = Record<string, unknown>;

/**
 * The variables of the operation, from a tool's arguments. Names inside free-form values are left as they are. What a
 * model sent as the text of a list, an object, a number or a flag is taken for what it stands for.
 */
export function toVariables(operation: Operation, given: Values): Values {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => name !== requestContextName));
  const values = readFields(operation.arguments, own, '');
  return operation.hasInputObject ? { input: values } : values;
}

function readFields(fields: readonly Pick<ToolArgument, 'name' | 'type'>[], given: Values, prefix: string): Values {
  const byName = new Map(fields.map((field) => [toSnakeCase(field.name), field]));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const field = byName.get(name);
      if (field === undefined) throw invalidInput('argument', describeNames([...byName.keys()]), name);
      return [field.name, readValue(field.type, value, prefix + name)];
    }),
  );
}

function describeNames(names: string[]): string {
  return names.length === 0 ? 'none, as there are none' : `one of ${names.join(', ')}`;
}

function readValue(given: GraphQLInputType, value: unknown, path: string): unknown {
  const type = getNullableType(given);
  if (value === null) return null;
  if (isListType(type)) {
    return readList(value, path, type).map((item, index) => readValue(type.ofType, item, `${path}[${index}]`));
  }
  if (isInputObjectType(type)) {
    return readFields(Object.values(type.getFields()), readObject(value, path, type), `${path}.`);
  }
  if (isEnumType(type)) return value;
  if (type.name === 'JSONObject') return readObject(value, path, type);
  return typeof value === 'string' ? readScalarText(type.name, value) : value;
}

function readList(given: unknown, path: string, type: GraphQLInputType & GraphQLNullableType): unknown[] {
  const value = typeof given === 'string' ? parseJson(given) : given;
  if (Array.isArray(value)) return value;
  throw invalidInput(path, 'a list', given, `Send ${path} as a list, such as ${JSON.stringify(exampleOf(type))}.`);
}

function readObject(given: unknown, path: string, type: GraphQLInputType & GraphQLNullableType): Values {
  const value = typeof given === 'string' ? parseJson(given) : given;
  if (isPlainObject(value)) return value;
  throw invalidInput(
    path,
    'an object',
    given,
    `Send ${path} as an object, such as ${JSON.stringify(exampleOf(type))}.`,
  );
}

/** Text that is not exactly a number or a flag stays text, for GraphQL to refuse in its own words. */
function readScalarText(typeName: string, text: string): unknown {
  const isNumber = typeName === 'Int' || typeName === 'Float';
  if (isNumber && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && Number.isFinite(Number(text))) return Number(text);
  if (typeName === 'Boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function exampleOf(given: GraphQLInputType): unknown {
  const type = getNullableType(given);
  if (isListType(type)) return [exampleOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return scalarExamples[type.name] ?? 'text';
  const fields = Object.values(type.getFields()).map(toArgument);
  const required = fields.filter(({ isRequired }) => isRequired);
  const shown =
    required.length > 0 ? required : fields.filter((field) => isLeafType(getNullableType(field.type))).slice(0, 1);
  return Object.fromEntries(shown.map((field) => [toSnakeCase(field.name), exampleOf(field.type)]));
}

const scalarExamples: Record<string, unknown> = {
  Int: 1,
  Float: 0.5,
  Boolean: true,
  DateTime: '2026-01-31T12:00:00Z',
  JSONObject: { key: 'value' },
};
