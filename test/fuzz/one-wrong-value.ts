import * as fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
} from 'graphql';
import { cursors, rootFields, scalars, type Field, type GraphQLBody } from './requests.ts';
import { texts } from './texts.ts';

/**
 * Requests that are right but for one value, which stands in any argument of any field or of a field below it. Where
 * several are wrong at once, the first one that is looked at hides the others.
 */
export const oneWrongValue: fc.Arbitrary<GraphQLBody> = createArbitrary();

function createArbitrary(): fc.Arbitrary<GraphQLBody> {
  const places = listPlaces();
  const ofCursors = places.filter(({ wrong }) => wrong === cursors);
  const anyPlace = fc.oneof(fc.constantFrom(...places), fc.constantFrom(...ofCursors));
  return anyPlace.chain(({ write, wrong }) => wrong.map(write));
}

interface Place {
  write: (value: unknown) => GraphQLBody;
  wrong: fc.Arbitrary<unknown>;
}

type Input = GraphQLArgument | GraphQLInputField;

function listPlaces(): Place[] {
  return rootFields.flatMap(([root, field]) => {
    const type = getNamedType(field.type);
    const below = isObjectType(type) ? Object.values(type.getFields()).filter(({ args }) => args.length > 0) : [];
    return [[field], ...below.map((child) => [field, child])].flatMap((path) => placesOf(root, path));
  });
}

/** The last field of the path has the wrong value; the others have what they require. */
function placesOf(root: string, path: readonly Field[]): Place[] {
  const last = path.at(-1) as Field;
  return last.args.flatMap((argument) =>
    pathsTo(argument).map(({ keys, leaf }) => ({
      wrong: wrongValue(leaf),
      write: (value) => {
        const variables: Record<string, unknown> = {};
        const head: string[] = [];
        const pass = (field: Field): string => {
          const passed = field.args.filter((one) => isRequiredArgument(one) || (field === last && one === argument));
          const names = passed.map((one) => {
            const variable = `${field.name}_${one.name}`;
            head.push(`$${variable}: ${one.type.toString()}`);
            variables[variable] =
              field === last && one === argument ? withValue(one.type, keys, value) : plausible(one.type);
            return `${one.name}: $${variable}`;
          });
          return names.length === 0 ? field.name : `${field.name}(${names.join(', ')})`;
        };
        const isLeaf = !isCompositeType(getNamedType(last.type));
        const text = path.map(pass).join(' { ') + (isLeaf ? '' : ' { __typename }') + ' }'.repeat(path.length - 1);
        return { query: `${root.toLowerCase()} Fuzz(${head.join(', ')}) { ${text} }`, variables };
      },
    })),
  );
}

/** The ways to the scalars in an argument, through input objects and lists. */
function pathsTo(input: Input, keys: (string | number)[] = []): { keys: (string | number)[]; leaf: Input }[] {
  let type = getNullableType(input.type);
  const own = [...keys];
  while (isListType(type)) {
    own.push(0);
    type = getNullableType(type.ofType);
  }
  if (!isInputObjectType(type)) return [{ keys: own, leaf: input }];
  return own.length > 5 ? [] : Object.values(type.getFields()).flatMap((field) => pathsTo(field, [...own, field.name]));
}

function wrongValue({ name, type }: Input): fc.Arbitrary<unknown> {
  const named = getNamedType(type);
  if (isEnumType(named)) return fc.constantFrom(...named.getValues().map((value) => value.name));
  return ['after', 'before'].includes(name) ? cursors : (scalars[named.name] ?? texts);
}

/** A plausible value of the type, with `value` where the keys lead. */
function withValue(given: GraphQLInputType, [key, ...keys]: (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  const type = getNullableType(given);
  if (isListType(type)) return [withValue(type.ofType, keys, value)];
  if (!isInputObjectType(type)) return value;
  const field = type.getFields()[key] as GraphQLInputField;
  return { ...(plausible(type) as object), [key]: withValue(field.type, keys, value) };
}

const plausibleScalars: Record<string, unknown> = {
  Int: 2,
  Float: 0.5,
  Boolean: true,
  DateTime: '2026-02-01T00:00:00Z',
  UUID: '01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a',
  ID: 'fact:01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a',
  JSONObject: {},
};

function plausible(given: GraphQLInputType): unknown {
  const type = getNullableType(given);
  if (isListType(type)) return [plausible(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return plausibleScalars[type.name] ?? 'user';
  const required = Object.values(type.getFields()).filter(isRequiredInputField);
  return Object.fromEntries(required.map((field) => [field.name, plausible(field.type)]));
}
