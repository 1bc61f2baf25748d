import { type Config, configPath, settings } from './schema.ts';
import type { Setting } from './setting.ts';

type Table = { [name: string]: Table };

/** Builds the frozen object from one property descriptor a setting; without a descriptor the key stays absent. */
export function buildConfig(describe: (setting: Setting) => PropertyDescriptor | undefined): Config {
  const root: Table = {};
  for (const setting of settings) {
    const path = configPath(setting.key);
    const name = path.pop() as string;
    // A table whose keys are all absent is there, and empty.
    const parent = path.reduce<Table>((table, step) => (table[step] ??= {}), root);
    const descriptor = describe(setting);
    if (descriptor !== undefined) Object.defineProperty(parent, name, { ...descriptor, enumerable: true });
  }
  freezeTables(root);
  return root as unknown as Config;
}

/** The value at a path of the schema, which what is looked into may not have. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[name];
  }
  return value;
}

/** Goes by descriptors, because reading a getter here would count as a read. */
function freezeTables(table: object): void {
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(table))) {
    if (typeof value === 'object' && value !== null) freezeTables(value as object);
  }
  Object.freeze(table);
}
