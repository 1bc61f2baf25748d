import type { z } from 'zod';
import { describeGiven } from '../shared/errors.ts';
import { valueAt } from './build-config.ts';
import { hidePasswords } from './redact-config.ts';
import { fileSchema, settings } from './schema.ts';
import { listNames, type Setting } from './setting.ts';

const settingByKey = new Map(settings.map((setting) => [setting.key, setting]));
const tableKeys = settings.flatMap(({ path }) => path.map((_, depth) => path.slice(0, depth).join('.')));
const knownKeys = [...new Set([...tableKeys, ...settingByKey.keys()])];

/** One line for each thing that is wrong with the tables of a file. */
export function describeFileProblems(file: string, root: unknown, error: z.ZodError): string[] {
  const lines = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? describeUnknownKeys(issue.path, issue.keys).map((line) => `${file}: ${line}`)
      : `${file}: ${issue.path.join('.')} ${describeIssue(issue, valueAt(root, issue.path))}`,
  );
  return [...new Set(lines)];
}

/** One line for an environment variable whose value does not fit its setting. */
export function describeVariableProblem(setting: Setting, given: string, error: z.ZodError): string {
  const [issue] = error.issues;
  const problem = describeIssue({ ...issue, path: setting.path }, given);
  return `environment variable ${setting.environment} (${setting.key}) ${problem}`;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly params?: { readonly allowed?: string; readonly given?: string; readonly reason?: string } | undefined;
}

/** What a tenant has otherwise is the same setting as that of all. */
function settingAt(path: readonly PropertyKey[]): Setting | undefined {
  const isOfTenant = path[1] === 'tenants' && path.length > 3;
  return settingByKey.get((isOfTenant ? ['butler', ...path.slice(3)] : path).join('.'));
}

function describeIssue({ path, params }: Issue, given: unknown): string {
  const setting = settingAt(path);
  const allowed = params?.allowed ?? setting?.allowed ?? 'a table';
  const shown = setting?.secret ? 'a value that is not shown, as it may hold a password' : describeValue(given);
  const reason = params?.reason === undefined ? '' : `: ${params.reason}`;
  return `must be ${allowed} (got ${params?.given ?? shown}${reason})`;
}

/** In the words of TOML. Never walks into a table or an array: a hostile one may be endlessly deep. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') return describeGiven(hidePasswords(value));
  if (typeof value === 'number') return String(value).replace('NaN', 'nan').replace('Infinity', 'inf');
  if (value instanceof Date) return `the date or time ${value.toISOString()}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : 'a table';
}

const shownUnknownKeys = 20;

/** Only the first ones of a table: a file of nothing else must not make an endless message. */
function describeUnknownKeys(path: readonly PropertyKey[], names: readonly string[]): string[] {
  const shown = names.slice(0, shownUnknownKeys).map((name) => describeUnknownKey(path, name));
  const hidden = names.length - shown.length;
  return hidden > 0 ? [...shown, `and ${hidden} more unknown keys ${describePlace(path)}`] : shown;
}

function describeUnknownKey(path: readonly PropertyKey[], name: string): string {
  const siblings = listNames(fileSchema, path);
  const meant = nearest(name, siblings) ?? knownKeys.find((key) => key.endsWith(`.${name}`));
  const suggestion = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  const key = [...path, printableKey(name)].join('.');
  return `${key}: unknown key${suggestion}; allowed ${describePlace(path)}: ${siblings.join(', ')}`;
}

function describePlace(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'at the top of the file' : `in [${path.join('.')}]`;
}

/** As it is, unless it would break the line or show the password of a URL put in the wrong variable. */
export function printablePath(path: string): string {
  const shown = hidePasswords(path);
  return /\p{Cc}/u.test(shown) ? JSON.stringify(shown) : shown;
}

function printableKey(name: string): string {
  return /^[\w-]{1,80}$/.test(name) ? name : describeGiven(hidePasswords(name));
}

/** The candidate that needs the fewest edits, unless that is more than a third of the name. */
function nearest(name: string, candidates: readonly string[]): string | undefined {
  const limit = Math.ceil(name.length / 3);
  const ranked = candidates
    .filter((candidate) => Math.abs(candidate.length - name.length) <= limit)
    .map((candidate) => ({ candidate, edits: countEdits(name, candidate) }))
    .filter(({ edits }) => edits <= limit);
  return ranked.toSorted((left, right) => left.edits - right.edits)[0]?.candidate;
}

/** Levenshtein distance, one row at a time. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (from[index] === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
