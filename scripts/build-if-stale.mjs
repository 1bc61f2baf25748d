// Before `npm start` and `npm run bench`: build if a source is newer than the build. An unchanged tree starts at once.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, buildStamp, root } from './run.mjs';

const sources = ['src', 'jobs', 'bench', 'prisma'].map((folder) => join(root, folder));

function newest(folder) {
  return Math.max(
    ...readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
}

const isStale = () => !existsSync(buildStamp) || Math.max(...sources.map(newest)) > statSync(buildStamp).mtimeMs;

if (existsSync(join(root, 'tsconfig.build.json')) && isStale()) build();
