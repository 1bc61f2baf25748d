import { lstatSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import { toCamelCase } from '../shared/names.ts';
import { buildConfig, valueAt } from './build-config.ts';
import { describeFileProblems, describeVariableProblem, printablePath } from './problems.ts';
import { readToml } from './read-toml.ts';
import { type Config, fileSchema, settings } from './schema.ts';

export interface LoadConfigOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly source: ConfigSource;
}

export interface ConfigSource {
  /** The file that was read; undefined when there was none. */
  readonly file: string | undefined;
  /** The names of the environment variables that were used. */
  readonly environment: readonly string[];
}

/** The environment wins over the file, the file over the defaults. Throws CONFIGURATION with one line per problem. */
export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const problems: string[] = [];
  const file = findFile(options);
  const tables = readTables(file, options, problems);
  const variables = readVariables(options.env, problems);
  if (problems.length > 0) throw new MemoryError('CONFIGURATION', problems.join('\n'));
  const config = buildConfig(({ key, path }) => {
    const value = variables.values.get(key) ?? valueAt(tables, path);
    if (value === undefined) return undefined;
    return { value: directories.has(key) ? expandHome(key, value as string, options) : inCamelCase(value) };
  });
  requireHashKey(config);
  return { config, source: { file, environment: variables.names } };
}

/** Of tables by names of their own: those names stay, and what is in the tables is called as everywhere in the object. */
function inCamelCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const rename = (inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null
      ? Object.fromEntries(Object.entries(inner).map(([name, one]) => [toCamelCase(name), rename(one)]))
      : inner;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rename(one)]));
}

/** After the environment was read: that is where the key should be. */
function requireHashKey({ redaction, butler }: Config): void {
  const { hashKey, ...modes } = redaction;
  const tenants = Object.values(butler.tenants).flatMap((tenant) => Object.values(tenant.redaction));
  if (hashKey !== undefined || ![...Object.values(modes), ...tenants].includes('hash')) return;
  const problem = 'butler.redaction.hash_key must be set while something is redacted with "hash" (got nothing)';
  throw new MemoryError('CONFIGURATION', problem);
}

/** The keys whose paths may start with ~/. */
const directories: ReadonlySet<string> = new Set(['butler.home', 'butler.memory.embedding.models_directory']);

const fileVariable = 'BUTLER_MEMORY_CONFIG';

function findFile(options: LoadConfigOptions): string | undefined {
  const named = options.env[fileVariable];
  if (named) return resolve(options.workingDirectory, named);
  const file = resolve(options.workingDirectory, 'butler.toml');
  // Of the link itself: a link that leads nowhere is a mistake to report, not a missing file.
  return lstatSync(file, { throwIfNoEntry: false }) === undefined ? undefined : file;
}

function readTables(file: string | undefined, { env }: LoadConfigOptions, problems: string[]): unknown {
  if (file === undefined) return fileSchema.parse({});
  const shownFile = printablePath(file);
  const toml = readToml(file);
  if ('problem' in toml) {
    const origin = env[fileVariable] ? ` (named by the environment variable ${fileVariable})` : '';
    problems.push(`${shownFile}${origin} ${toml.problem}`);
    return undefined;
  }
  const parsed = fileSchema.safeParse(toml.root);
  if (!parsed.success) problems.push(...describeFileProblems(shownFile, toml.root, parsed.error));
  return parsed.data;
}

/** An empty variable counts as absent: that is how a compose file or a shell script leaves one out. */
function readVariables(env: LoadConfigOptions['env'], problems: string[]) {
  const values = new Map<string, unknown>();
  const names: string[] = [];
  for (const setting of settings) {
    const text = setting.environment === undefined ? undefined : env[setting.environment];
    if (setting.environment === undefined || !text) continue;
    const parsed = setting.schema.safeParse(setting.fromEnvironment?.(text) ?? text);
    if (!parsed.success) problems.push(describeVariableProblem(setting, text, parsed.error));
    values.set(setting.key, parsed.data);
    names.push(setting.environment);
  }
  return { values, names };
}

function expandHome(key: string, directory: string, { workingDirectory, homeDirectory }: LoadConfigOptions): string {
  if (!directory.startsWith('~')) return resolve(workingDirectory, directory);
  if (isAbsolute(homeDirectory)) return resolve(homeDirectory, `.${directory.slice(1)}`);
  const problem = `${key} must be an absolute path, as this user has no home directory (got "${directory}")`;
  throw new MemoryError('CONFIGURATION', problem);
}
