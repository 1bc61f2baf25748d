import { z } from 'zod';
import type { Kind } from './kinds.ts';

interface About {
  readonly description: string;
  /** The environment variable that wins over the file. */
  readonly environment?: string;
  /** Replaces the kind's own reading of that variable. */
  readonly fromEnvironment?: (text: string) => unknown;
}

type SettingMeta = About & Omit<Kind<unknown>, 'schema'>;

/** A leaf of the schema, under its full name in the file. */
export interface Setting extends SettingMeta {
  readonly key: string;
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

const settingMeta = new WeakMap<z.ZodType, SettingMeta>();
const tableShapes = new WeakMap<z.ZodType, z.ZodRawShape>();
const namedInner = new WeakMap<z.ZodType, z.ZodType>();

export function setting<Value>(
  kind: Kind<Value>,
  about: About & { readonly default: NoInfer<Value> },
): z.ZodDefault<z.ZodType<Value>>;
export function setting<Value>(kind: Kind<Value>, about: About): z.ZodOptional<z.ZodType<Value>>;
export function setting<Value>(
  { schema, ...kind }: Kind<Value>,
  { default: defaultValue, ...about }: About & { readonly default?: Value },
): z.ZodType {
  const leaf =
    defaultValue === undefined ? schema.optional() : schema.default(defaultValue as z.core.util.NoUndefined<Value>);
  settingMeta.set(leaf, { ...kind, ...about });
  return leaf;
}

type Rule<Shape extends z.ZodRawShape> = (
  values: z.output<z.ZodObject<Shape>>,
) => { readonly key?: string; readonly allowed: string; readonly given: string } | undefined;

/** A table of the file. A key left out takes its default; a key that is not in the shape is refused. */
export function table<Shape extends z.ZodRawShape>(shape: Shape, rule?: Rule<Shape>) {
  const strict = z.strictObject(shape).superRefine((values, context) => {
    const fault = rule?.(values);
    if (fault !== undefined) {
      const { key, ...params } = fault;
      context.addIssue({ code: 'custom', path: key === undefined ? [] : [key], params });
    }
  });
  // A TOML date is an object without keys, which zod would take for an empty table.
  const guarded = z.preprocess((value) => (value instanceof Date ? value.toISOString() : value), strict).prefault({});
  tableShapes.set(guarded, shape);
  return guarded;
}

/**
 * Tables by names that the file chooses, each of the same form: `[butler.tenants."a name"]`. To readers of the schema it is
 * one setting, whose value is all of them.
 */
export function namedTables<Inner extends z.ZodType>(
  inner: Inner,
  { description, allowed }: About & { allowed: string },
) {
  const all = z.record(z.string(), inner).prefault({});
  settingMeta.set(all, { description, allowed });
  namedInner.set(all, inner);
  return all;
}

/** Every leaf below a schema, in the order it is written. */
export function listSettings(schema: z.ZodType, path: readonly string[] = []): Setting[] {
  const meta = settingMeta.get(schema);
  if (meta !== undefined) return [{ ...meta, key: path.join('.'), path, schema }];
  return Object.entries(unwrapShape(schema)).flatMap(([name, inner]) =>
    listSettings(inner as z.ZodType, [...path, name]),
  );
}

/** The names allowed in the table at a path of the schema. */
export function listNames(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const step = (outer: z.ZodType, name: PropertyKey): z.ZodType =>
    namedInner.get(outer) ?? (unwrapShape(outer)[String(name)] as z.ZodType);
  const inner = path.reduce<z.ZodType>(step, schema);
  return Object.keys(unwrapShape(inner));
}

function unwrapShape(schema: z.ZodType): z.ZodRawShape {
  const shape = tableShapes.get(schema);
  if (shape === undefined) throw new TypeError('a configuration schema is made of table() and setting() only');
  return shape;
}
