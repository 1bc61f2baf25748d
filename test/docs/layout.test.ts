import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/shared/package-root.ts';

/** The names that a block of the layout lists one level below its folder: `memory/`, or several files with commas between. */
function listedIn(folder: string): string[] {
  const contributing = readFileSync(join(packageRoot, 'CONTRIBUTING.md'), 'utf8');
  const lines = contributing.split('\n');
  const start = lines.indexOf(folder);
  const length = lines.slice(start + 1).findIndex((line) => !line.startsWith('  '));
  return lines.slice(start + 1, start + 1 + length).flatMap((line) => namesOf(line.trim()));
}

/** What stands before the description, which two blanks or the width of the column separate from it. */
function namesOf(line: string): string[] {
  return /^(?:[\w.-]+(?:\/|\.ts)(?:, )?)+/.exec(line)?.[0].split(', ') ?? [line];
}

it('the layout in CONTRIBUTING.md lists every folder and file of src, and none that is not there', () => {
  const entries = readdirSync(join(packageRoot, 'src'), { withFileTypes: true });
  const found = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));

  expect(listedIn('src/').toSorted()).toEqual(found.toSorted());
});
