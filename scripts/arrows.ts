// The one list of which folder may import which. `npm run generate` turns it into the lint rules of .oxlintrc.arrows.json,
// and `npm run check` fails while a file or folder of src/ is missing here.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/shared/package-root.ts';

/** From the bottom to the top. A file may import its own folder and every layer below; never its neighbours. */
const layers: readonly (readonly string[])[] = [
  ['generated', 'shared'],
  ['config'],
  ['redaction', 'embedding'],
  ['db'],
  ['encryption'],
  ['memory'],
  ['retrieval'],
  ['lifecycle'],
  ['auth'],
  ['limits'],
  ['graphql', 'mcp', 'jobs'],
  ['begin-memory.ts'],
  ['create-memory.ts'],
  ['http'],
  ['commands'],
  ['cli.ts'],
];

/** Folders that may import less than the layers below them, and the reason. */
const narrower: Readonly<Record<string, { only: readonly string[]; because: string }>> = {
  mcp: {
    only: ['shared', 'config', 'limits'],
    because: 'A tool is a GraphQL operation: it reaches the domain through the schema that src/http hands in.',
  },
};

/** May import everything, and nothing in src/ or jobs/ may import them. */
const outside = ['test', 'bench', 'scripts'];

const advice =
  'Take what lies above as a parameter, or move what both need to a lower layer. The list is in scripts/arrows.ts.';

const ruled = layers.flat().filter((entry) => entry !== 'generated');

/** Returns the lint configuration that enforces the arrows, as the text of .oxlintrc.arrows.json. */
export function renderArrowRules(): string {
  requireComplete();
  return `{ "overrides": [\n${ruled.map((entry) => JSON.stringify(renderOverride(entry))).join(',\n')}\n] }\n`;
}

function renderOverride(entry: string): object {
  const allowed = listAllowed(entry);
  const forbidden = [...layers.flat(), ...outside].filter((other) => other !== entry && !allowed.includes(other));
  const may = allowed.length === 0 ? 'imports no other folder' : `may import ${allowed.map(pathOf).join(', ')}`;
  const message = [`${pathOf(entry)} ${may}.`, narrower[entry]?.because, advice].filter(Boolean).join(' ');
  const pattern = { regex: importRegex(entry, forbidden), message };
  return {
    files: [entry.endsWith('.ts') ? pathOf(entry) : `${pathOf(entry)}/**`],
    rules: { 'no-restricted-imports': ['error', { patterns: [pattern] }] },
  };
}

function listAllowed(entry: string): readonly string[] {
  const level = layers.findIndex((layer) => layer.includes(entry));
  return narrower[entry]?.only ?? layers.slice(0, level).flat();
}

/** Matches relative imports of the forbidden entries. Files at the top of src/ import with `./`, files in folders with `../`. */
function importRegex(entry: string, forbidden: readonly string[]): string {
  const up = entry.endsWith('.ts') ? String.raw`\.{1,2}/` : String.raw`(\.\./)+`;
  const names = forbidden.map((name) => (name.endsWith('.ts') ? name.replace('.', String.raw`\.`) : `${name}/`));
  return `^${up}(src/)?(${names.join('|')})`;
}

function pathOf(entry: string): string {
  return entry === 'jobs' ? entry : `src/${entry}`;
}

function requireComplete(): void {
  const found = readdirSync(join(packageRoot, 'src'));
  const missing = found.filter((name) => !layers.flat().includes(name));
  const gone = layers.flat().filter((name) => name !== 'jobs' && name !== 'generated' && !found.includes(name));
  if (missing.length > 0) throw new Error(`scripts/arrows.ts has no layer for src/${missing.join(', src/')}`);
  if (gone.length > 0) throw new Error(`scripts/arrows.ts names what is not there: src/${gone.join(', src/')}`);
}
