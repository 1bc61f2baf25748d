import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface TestFiles {
  /** Need no database: run once, whatever engines are tested. */
  withoutDatabase: string[];
  /** Run once on each engine. */
  perEngine: string[];
  /** The files of both groups that have a longer form, which runs in `npm run test:drills`. */
  drills: string[];
}

const databaseMarker = "inject('testRun')";
const drillMarker = '/drill.ts';

/**
 * Sorts test files by what they import, so that nobody has to keep a list. A file needs a database if it, or a file under
 * test/ that it imports, reads what test/support/global-setup.ts prepared. It is a drill if it imports
 * test/support/drill.ts. A file that is sorted wrongly cannot pass by accident: nothing is prepared for it.
 */
export function findTestFiles(root: string): TestFiles {
  const directory = join(root, 'test');
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(directory, name))
    .toSorted();
  const contents = new Map<string, string>();
  const read = (file: string): string => {
    const content = contents.get(file) ?? readFileSync(file, 'utf8');
    contents.set(file, content);
    return content;
  };
  const imports = new Map(files.map((file) => [file, reachableFrom(file, directory, read)]));
  const reaches = (file: string, isMarked: (imported: string) => boolean): boolean =>
    [...(imports.get(file) ?? [])].some(isMarked);
  const needsDatabase = (file: string): boolean => reaches(file, (name) => read(name).includes(databaseMarker));
  return {
    withoutDatabase: files.filter((file) => !needsDatabase(file)),
    perEngine: files.filter(needsDatabase),
    drills: files.filter((file) => reaches(file, (name) => name.endsWith(drillMarker))),
  };
}

/** The file itself, and all that it imports from the directory, directly or not. Types are no imports. */
function reachableFrom(start: string, directory: string, read: (file: string) => string): Set<string> {
  const found = new Set([start]);
  for (const file of found) {
    for (const [, specifier = ''] of read(file).matchAll(/^(?:import|export)(?! type\b)[^;]*?'(\.[^']+)'/gm)) {
      const imported = join(dirname(file), specifier);
      if (imported.startsWith(directory) && existsSync(imported)) found.add(imported);
    }
  }
  return found;
}
