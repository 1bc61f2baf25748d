import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/shared/package-root.ts';

const read = (file: string): string => readFileSync(join(packageRoot, 'test', file), 'utf8');
const rows = [...read('contract/README.md').matchAll(/^\| [^|]+ \| `([^`]+)`\s*\| ([^|]+?)\s*\|$/gm)];

it('the index of behaviours has rows to look at', () => {
  expect(rows.length).toBeGreaterThan(60);
});

it.each(rows.map(([, file = '', title = '']) => [file, title]))('%s states: %s', (file, title) => {
  expect(read(`${file}.test.ts`)).toContain(title);
});
