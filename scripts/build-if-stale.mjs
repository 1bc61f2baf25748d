// Before `npm start` and `npm run bench`: build if a source is newer than the build. An unchanged tree starts at once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, isBuildStale, root } from './run.mjs';

if (existsSync(join(root, 'tsconfig.build.json')) && isBuildStale()) build();
