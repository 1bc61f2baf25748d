import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/shared/package-root.ts';

const product = ['src', 'jobs'];
const support = [...product, 'test/support'];

/**
 * The arguments with which `node` runs a TypeScript file of the project: its build where that is fresh, because it starts
 * in half the time, otherwise the source. `npm test` builds what is stale, unless the compiler finds an error.
 */
export function argumentsToRun(source: string): string[] {
  const file = join(packageRoot, source);
  const built = join(packageRoot, 'dist', source.replace(/\.ts$/, '.js'));
  const isFresh = isBuiltSince(source.startsWith('test/') ? support : product);
  return isFresh && existsSync(built) ? [built] : ['--import', tsxUrl(), file];
}

const known = new Map<readonly string[], boolean>();

function isBuiltSince(folders: readonly string[]): boolean {
  const changedAt = (): number => Math.max(...folders.flatMap(listFiles).map(modifiedAt));
  const isFresh = known.get(folders) ?? changedAt() < modifiedAt(join(packageRoot, 'dist', 'build.stamp'));
  known.set(folders, isFresh);
  return isFresh;
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(join(packageRoot, folder), { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function tsxUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
