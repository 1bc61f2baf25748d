import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of our own package.json, from source (src/) as from the build (dist/src/). */
export const packageRoot: string = findPackageRoot(dirname(fileURLToPath(import.meta.url)));

interface PackageManifest {
  name: string;
  version: string;
}

export const packageManifest: PackageManifest = readManifest(join(packageRoot, 'package.json'));

function findPackageRoot(from: string): string {
  const file = join(from, 'package.json');
  if (existsSync(file) && readManifest(file).name === 'butler-memory') return from;
  const parent = dirname(from);
  if (parent === from) throw new Error('package.json of butler-memory not found above its own source');
  return findPackageRoot(parent);
}

function readManifest(file: string): PackageManifest {
  return JSON.parse(readFileSync(file, 'utf8')) as PackageManifest;
}
