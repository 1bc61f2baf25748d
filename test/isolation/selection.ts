import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { builder } from '../../src/graphql/builder.ts';

/** Asks for as much as the limits let through: every leaf of a type, then level by level what it leads to. */

type Field = GraphQLField<unknown, unknown>;

interface Asked {
  field: Field;
  alias: string;
  argumentsText: string;
  factor: number;
  cost: number;
  selection: Selection | null;
}

interface Selection {
  /** By the name of the type that the fields are asked of. */
  parts: Map<string, Asked[]>;
}

interface Candidate {
  parent: GraphQLObjectType | GraphQLInterfaceType;
  field: Field;
  into: Asked[];
  prefix: string;
  level: number;
}

export type LiteralOf = (argument: GraphQLArgument, owner: string) => string;

/** `turn` begins with other ways at each type, so that several documents together go everywhere. */
export interface SelectionOptions {
  schema: GraphQLSchema;
  turn: number;
  literalOf: LiteralOf;
  /** Filled with every "Type.field" that is asked for. */
  covered: Set<string>;
}

/** So many documents go everywhere, each beginning elsewhere. */
export const turns = 4;

const listLength = 2;
const { complexity, depth, breadth } = (builder.options.complexity as { limit: unknown }).limit as Record<
  'complexity' | 'depth' | 'breadth',
  number
>;

/** The selection set of a field's answer to these arguments, with its braces; nothing for a leaf. */
export function deepestSelection(field: Field, given: object, options: SelectionOptions): string {
  const root = { ...ask({ parent: null, field, prefix: '', options }), ...weigh(field, given) };
  if (root.selection === null) return '';
  const waiting = candidatesOf(root.selection, field, 0, options);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const asked = ask({ parent: next.parent, field: next.field, prefix: next.prefix, options });
    next.into.push(asked);
    if (!fits(root)) {
      next.into.pop();
      continue;
    }
    options.covered.add(`${next.parent.name}.${next.field.name}`);
    if (asked.selection !== null) waiting.push(...candidatesOf(asked.selection, next.field, next.level + 1, options));
  }
  note(root.selection, options.covered);
  return print(root.selection);
}

interface Asking {
  parent: GraphQLObjectType | GraphQLInterfaceType | null;
  field: Field;
  prefix: string;
  options: SelectionOptions;
}

/** A field with all the leaves of its answer. */
function ask({ parent, field, prefix, options }: Asking): Asked {
  const given: Record<string, number> = {};
  const texts = field.args.flatMap((argument) => {
    if (argument.name === 'first' || argument.name === 'limit') {
      given[argument.name] = listLength;
      return [`${argument.name}: ${listLength}`];
    }
    const owner = parent === null ? '' : `${parent.name}.${field.name}`;
    return isRequiredArgument(argument) && parent !== null
      ? [`${argument.name}: ${options.literalOf(argument, owner)}`]
      : [];
  });
  return {
    field,
    alias: prefix === '' ? '' : `${prefix}_${field.name}: `,
    argumentsText: texts.length === 0 ? '' : `(${texts.join(', ')})`,
    ...(parent === null ? { factor: 1, cost: 1 } : weigh(field, given)),
    selection: leavesOf(getNamedType(field.type) as GraphQLCompositeType, options),
  };
}

type Weight = number | { field?: number; multiplier?: number };

export function weigh(field: Field, given: object): Pick<Asked, 'factor' | 'cost'> {
  const defaults = Object.fromEntries(field.args.map(({ name, defaultValue }) => [name, defaultValue]));
  const declared = field.extensions['complexity'] as Weight | ((args: object) => Weight) | undefined;
  const weight = typeof declared === 'function' ? declared({ ...defaults, ...given }) : declared;
  const usual = isListType(getNullableType(field.type)) ? 10 : 1;
  return {
    factor: typeof weight === 'object' ? (weight.multiplier ?? usual) : usual,
    cost: typeof weight === 'number' ? weight : (weight?.field ?? 1),
  };
}

function leavesOf(type: GraphQLCompositeType, options: SelectionOptions): Selection | null {
  if (!isCompositeType(type)) return null;
  const parts = new Map<string, Asked[]>();
  for (const [part, prefix, fields] of partsOf(type, options.schema)) {
    const leaves = fields.filter((field) => !isCompositeType(getNamedType(field.type)) || isPaging(part, field));
    parts.set(
      part.name,
      leaves.map((field) => ask({ parent: part, field, prefix, options })),
    );
  }
  return { parts };
}

/** The way through a page to what is on it: by itself it tells nothing. */
function isPaging({ name }: { name: string }, field: Field): boolean {
  return /(Connection|Edge)$/.test(name) && ['edges', 'node'].includes(field.name);
}

/** What all its types have once, and then what each has beside; under names of their own, as their shapes may differ. */
function partsOf(
  type: GraphQLCompositeType,
  schema: GraphQLSchema,
): [GraphQLObjectType | GraphQLInterfaceType, string, Field[]][] {
  if (isObjectType(type)) return [[type, '', Object.values(type.getFields())]];
  const common = isUnionType(type) ? {} : type.getFields();
  const parts = schema
    .getPossibleTypes(type)
    .map((possible): [GraphQLObjectType, string, Field[]] => [
      possible,
      possible.name,
      Object.values(possible.getFields()).filter(({ name }) => !Object.hasOwn(common, name)),
    ]);
  return isUnionType(type) ? parts : [[type, '', Object.values(common)], ...parts];
}

function candidatesOf(selection: Selection, { type }: Field, level: number, options: SelectionOptions): Candidate[] {
  return partsOf(getNamedType(type) as GraphQLCompositeType, options.schema).flatMap(([parent, prefix, fields]) => {
    const paged = (selection.parts.get(parent.name) as Asked[]).flatMap((asked) =>
      asked.selection === null ? [] : candidatesOf(asked.selection, asked.field, level + 1, options),
    );
    const ways = fields.filter((field) => isCompositeType(getNamedType(field.type)) && !isPaging(parent, field));
    const into = selection.parts.get(parent.name) as Asked[];
    const start = ways.length === 0 ? 0 : Math.floor((options.turn * ways.length) / turns);
    const turned = [...ways.slice(start), ...ways.slice(0, start)];
    return [...turned.map((field) => ({ parent, field, into, prefix, level })), ...paged];
  });
}

interface Size {
  complexity: number;
  depth: number;
  breadth: number;
}

/** As the server counts; with some room, as a document has an operation around the field. */
function fits(root: Asked): boolean {
  const size = sizeOf(root);
  return size.complexity <= complexity && size.depth <= depth && size.breadth <= breadth;
}

function sizeOf({ selection, factor, cost }: Asked): Size {
  // The name of the type is asked for in every selection.
  const names = selection === null ? 0 : 1;
  const inner: Size = { complexity: names, depth: names, breadth: names };
  for (const asked of [...(selection?.parts.values() ?? [])].flat()) {
    const size = sizeOf(asked);
    inner.complexity += size.complexity;
    inner.breadth += size.breadth;
    inner.depth = Math.max(inner.depth, size.depth);
  }
  return { complexity: inner.complexity * factor + cost, depth: inner.depth + 1, breadth: inner.breadth + 1 };
}

function note(selection: Selection, covered: Set<string>): void {
  for (const [typeName, fields] of selection.parts) {
    for (const { field, selection: inner } of fields) {
      covered.add(`${typeName}.${field.name}`);
      if (inner !== null) note(inner, covered);
    }
  }
}

function print({ parts }: Selection): string {
  const [first, ...others] = [...parts].filter(([, fields]) => fields.length > 0);
  const all = first === undefined ? [] : [first, ...others];
  const isPlain = all.length === 1 && parts.size === 1;
  return `{ ${all
    .map(([typeName, fields]) => {
      const text = fields
        .map(({ alias, field, argumentsText, selection }) => {
          return `${alias}${field.name}${argumentsText}${selection === null ? '' : ` ${print(selection)}`}`;
        })
        .join(' ');
      return isPlain ? text : `... on ${typeName} { ${text} }`;
    })
    .join(' ')} __typename }`;
}

/** Every "Type.field" of the answers that the schema can give, but for what describes the schema itself. */
export function everyField(schema: GraphQLSchema): string[] {
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !roots.has(type))
    .flatMap((type) => Object.keys((type as GraphQLObjectType).getFields()).map((name) => `${type.name}.${name}`));
}

/** A field that was asked of an interface was asked of all its types. */
export function isCovered(schema: GraphQLSchema, covered: ReadonlySet<string>, wanted: string): boolean {
  const [typeName = '', name = ''] = wanted.split('.');
  const type = schema.getType(typeName) as GraphQLObjectType;
  return [type, ...type.getInterfaces()].some((one) => covered.has(`${one.name}.${name}`)) && !isAbstractType(type);
}
