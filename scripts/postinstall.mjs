// After `npm install` in a clone: generate the client and build, so that `npm start` is the second and last command.
// In an installed package there is nothing to do: it was built before it was packed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, runSteps } from './run.mjs';

if (existsSync(join(root, 'tsconfig.build.json'))) {
  runSteps([
    { command: ['node', 'scripts/generate.mjs', '--client'] },
    { command: ['tsc', '-p', 'tsconfig.build.json'] },
  ]);
}
