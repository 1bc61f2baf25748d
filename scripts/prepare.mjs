// After `npm install` in a clone, and before packing: generate and build, so that `npm start` is the second and last
// command. npm does not run it where the package is a dependency, which was built before it was packed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './run.mjs';

if (!existsSync(join(root, 'node_modules', 'typescript'))) {
  console.error('butler-memory: a clone is built with its development dependencies: npm install --include=dev');
  process.exit(1);
}
build();
