// Writes the committed files that the code decides: schema.graphql and the table in docs/configuration.md.
// With --check it writes nothing and fails if one differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { renderConfigReference } from '../src/config/reference.ts';
import { schema } from '../src/graphql/schema.ts';
import { packageRoot } from '../src/package-root.ts';

const configurationPage = join(packageRoot, 'docs', 'configuration.md');

const files = [
  { path: join(packageRoot, 'schema.graphql'), content: `${printSchema(lexicographicSortSchema(schema))}\n` },
  { path: configurationPage, content: withReference(readFileSync(configurationPage, 'utf8')) },
];

if (process.argv.includes('--check')) check();
else for (const { path, content } of files) writeFileSync(path, content);

function check(): void {
  const stale = files.filter(({ path, content }) => readIfThere(path) !== content);
  for (const { path } of stale) console.error(`${path} is not what the code says: run npm run generate`);
  if (stale.length > 0) process.exitCode = 1;
}

function withReference(page: string): string {
  return page.replace(/(<!-- keys:start -->\n\n)[\s\S]*(\n\n<!-- keys:end -->)/, (_, start: string, end: string) => {
    return `${start}${renderConfigReference().trim()}${end}`;
  });
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
