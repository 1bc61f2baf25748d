// Writes the committed files that are generated: schema.graphql, the tables in docs/configuration.md and
// docs/security.md, and the lint rules of .oxlintrc.arrows.json.
// With --check it writes nothing and fails if one differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { renderArrowRules } from './arrows.ts';
import { renderConfigReference } from './docs/config-reference.ts';
import { schema } from '../src/graphql/schema.ts';
import { packageRoot } from '../src/shared/package-root.ts';
import { renderRoleReference } from './docs/role-reference.ts';

const files = [
  { path: join(packageRoot, '.oxlintrc.arrows.json'), content: renderArrowRules() },
  { path: join(packageRoot, 'schema.graphql'), content: `${printSchema(lexicographicSortSchema(schema))}\n` },
  pageWithTable('configuration.md', 'keys', renderConfigReference()),
  pageWithTable('security.md', 'roles', renderRoleReference(schema)),
];

if (process.argv.includes('--check')) check();
else for (const { path, content } of files) writeFileSync(path, content);

function check(): void {
  const stale = files.filter(({ path, content }) => readIfThere(path) !== content);
  for (const { path } of stale) console.error(`${path} is not what the code says: run npm run generate`);
  if (stale.length > 0) process.exitCode = 1;
}

function pageWithTable(name: string, mark: string, table: string): { path: string; content: string } {
  const path = join(packageRoot, 'docs', name);
  const place = new RegExp(`(<!-- ${mark}:start -->\\n\\n)[\\s\\S]*(\\n\\n<!-- ${mark}:end -->)`);
  const page = readFileSync(path, 'utf8');
  if (!place.test(page)) throw new Error(`docs/${name} has no place for a table: <!-- ${mark}:start --> to end`);
  return { path, content: page.replace(place, (_, start: string, end: string) => `${start}${table.trim()}${end}`) };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
