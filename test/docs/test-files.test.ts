import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findTestFiles, type TestFiles } from '../support/test-files.ts';

/** Not in one piece, or this file would need a database too. */
const marker = ['inject(', 'testRun', ')'].join("'");
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'test-files-'));
  await write('test/support/database.ts', `export const { engine } = ${marker};`);
  await write('test/support/app.ts', `import {\n  engine,\n} from './database.ts';`);
  await write('test/support/drill.ts', '');
});
afterEach(() => rm(root, { recursive: true }));

async function write(name: string, content: string): Promise<void> {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), content);
}

/** In which groups a test file with these lines is. */
async function groupsOf(...lines: string[]): Promise<string[]> {
  await write('test/memory/tea.test.ts', lines.join('\n'));
  const files = findTestFiles(root);
  return (Object.keys(files) as (keyof TestFiles)[]).filter((group) =>
    files[group].some((file) => relative(root, file) === join('test', 'memory', 'tea.test.ts')),
  );
}

describe('a test file', () => {
  it('runs once if it needs no database', async () => {
    expect(await groupsOf(`import { expect } from 'vitest';`)).toEqual(['withoutDatabase']);
  });

  it('runs on each engine if what it imports opens a database, directly or not', async () => {
    expect(await groupsOf(`import { createTestApp } from '../support/app.ts';`)).toEqual(['perEngine']);
    expect(await groupsOf(`const { directory } = ${marker};`)).toEqual(['perEngine']);
  });

  it('runs once if it only imports a type from there', async () => {
    expect(await groupsOf(`import type { TestApp } from '../support/app.ts';`)).toEqual(['withoutDatabase']);
  });

  it('runs in the drills as well if it has a longer form', async () => {
    const drill = `import { drill } from '../support/drill.ts';`;
    expect(await groupsOf(drill)).toEqual(['withoutDatabase', 'drills']);
    expect(await groupsOf(drill, `import { engine } from '../support/database.ts';`)).toEqual(['perEngine', 'drills']);
  });
});
