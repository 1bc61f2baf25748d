import {
  getNullableType,
  GraphQLError,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLNullableType,
} from 'graphql';
import { invalidInput } from '../../shared/errors.ts';
import { toSnakeCase } from '../../shared/names.ts';
import { isPlainObject, parseJson } from '../../shared/json-text.ts';
import { toArgument, type Operation, type ToolArgument } from './operation.ts';
import { requestContextName } from './request-context.ts';

type Values = Record<string, unknown>;
type NullableType = GraphQLInputType & GraphQLNullableType;

/**
 * Turns the arguments of a tool into the variables of its operation. A list, object, number or flag that a model sent as
 * text is parsed. Wrong values are refused here, because GraphQL's own message uses names that the model does not know
 * and does not say what is allowed.
 */
export function toVariables(operation: Operation, given: Values): Values {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => name !== requestContextName));
  const values = readFields(operation.arguments, own, '');
  return operation.hasInputObject ? { input: values } : values;
}

/** Reads the fields of the object at `path`, which is blank for the arguments themselves. */
function readFields(fields: readonly ToolArgument[], given: Values, path: string): Values {
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const byName = new Map(fields.map((field) => [toSnakeCase(field.name), field]));
  const wanted = new Map(Object.entries(given));
  for (const name of wanted.keys()) {
    if (byName.has(name)) continue;
    throw invalidInput(path === '' ? 'argument' : `argument of ${path}`, describeNames([...byName.keys()]), name);
  }
  const required = [...byName].filter(([, { isRequired }]) => isRequired);
  for (const [name, { type }] of required) {
    if (wanted.has(name)) continue;
    const names = required.map(([requiredName]) => requiredName).join(', ');
    throw invalidInput(pathOf(name), describeType(getNullableType(type)), undefined, `Required: ${names}.`);
  }
  return Object.fromEntries(
    [...wanted].map(([name, value]) => {
      const field = byName.get(name) as ToolArgument;
      return [field.name, readValue(field.type, value, pathOf(name))];
    }),
  );
}

function describeNames(names: string[]): string {
  return names.length === 0 ? 'none, as there are none' : `one of ${names.join(', ')}`;
}

function readValue(given: GraphQLInputType, value: unknown, path: string): unknown {
  const type = getNullableType(given);
  if (value === null && !isNonNullType(given)) return null;
  if (value === null) throw invalidInput(path, describeType(type), value);
  if (isListType(type)) {
    return readList(value, path, type).map((item, index) => readValue(type.ofType, item, `${path}[${index}]`));
  }
  if (isInputObjectType(type)) {
    return readFields(Object.values(type.getFields()).map(toArgument), readObject(value, path, type), path);
  }
  return type.name === 'JSONObject' ? readObject(value, path, type) : readLeaf(value, path, type);
}

function readList(given: unknown, path: string, type: NullableType): unknown[] {
  const value = typeof given === 'string' ? parseJson(given) : given;
  if (Array.isArray(value)) return value;
  throw refuseShape(given, path, type);
}

function readObject(given: unknown, path: string, type: NullableType): Values {
  const value = typeof given === 'string' ? parseJson(given) : given;
  if (isPlainObject(value)) return value;
  throw refuseShape(given, path, type);
}

function refuseShape(given: unknown, path: string, type: NullableType): Error {
  const shape = describeType(type);
  return invalidInput(path, shape, given, `Send ${path} as ${shape}, such as ${JSON.stringify(makeExample(type))}.`);
}

/** Checks a leaf against its GraphQL type. Execution parses it again. */
function readLeaf(given: unknown, path: string, type: GraphQLLeafType): unknown {
  const value = typeof given === 'string' ? readScalarText(type.name, given) : given;
  try {
    type.parseValue(value);
  } catch (error) {
    if (error instanceof GraphQLError) throw invalidInput(path, describeType(type), given);
    throw error;
  }
  return value;
}

/** Parses text that is exactly a number or a flag; other text stays text. */
function readScalarText(typeName: string, text: string): unknown {
  const isNumber = typeName === 'Int' || typeName === 'Float';
  if (isNumber && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && Number.isFinite(Number(text))) return Number(text);
  if (typeName === 'Boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Completes "must be". */
function describeType(type: NullableType): string {
  if (isListType(type)) return 'a list';
  if (isInputObjectType(type)) return 'an object';
  if (isEnumType(type))
    return `one of ${type
      .getValues()
      .map(({ name }) => name)
      .join(', ')}`;
  return scalars[type.name]?.description ?? 'text';
}

function makeExample(given: GraphQLInputType): unknown {
  const type = getNullableType(given);
  if (isListType(type)) return [makeExample(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return scalars[type.name]?.example ?? 'text';
  const fields = Object.values(type.getFields()).map(toArgument);
  const required = fields.filter(({ isRequired }) => isRequired);
  const shown =
    required.length > 0 ? required : fields.filter((field) => isLeafType(getNullableType(field.type))).slice(0, 1);
  return Object.fromEntries(shown.map((field) => [toSnakeCase(field.name), makeExample(field.type)]));
}

const time = '2026-01-31T12:00:00Z';

/** Scalars that are not listed are text. */
const scalars: Record<string, { description: string; example: unknown }> = {
  Int: { description: 'a whole number of at most 32 bits', example: 1 },
  Float: { description: 'a number', example: 0.5 },
  Boolean: { description: 'true or false', example: true },
  DateTime: {
    description: `a day or time of the years 1901 to 9999 in ISO 8601, such as "2026-01-31" or "${time}"`,
    example: time,
  },
  UUID: { description: 'a UUID', example: '01981f6e-8a5c-7000-8000-000000000000' },
  JSONObject: { description: 'an object', example: { key: 'value' } },
};
