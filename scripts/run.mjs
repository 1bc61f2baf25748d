import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const binaries = join(root, 'node_modules', '.bin');
const isWindows = process.platform === 'win32';

const buildStamp = join(root, 'dist', 'build.stamp');
const builtFrom = ['src', 'jobs', 'bench', 'prisma'];

/** Whether a file in one of the folders changed since the last build. */
export function isBuildStale(folders = builtFrom) {
  if (!existsSync(buildStamp)) return true;
  return Math.max(...folders.map((folder) => newest(join(root, folder)))) > statSync(buildStamp).mtimeMs;
}

/** Documents are no sources: each benchmark writes bench/RESULTS.md. */
function newest(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.md'),
  );
  return Math.max(...entries.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs));
}

export function build() {
  runSteps([{ command: ['node', 'scripts/generate.mjs', '--uncommitted'] }, compile, makeTemplate]);
  markBuilt();
}

/**
 * For tests, which start servers as processes: the build starts in half the time of the source. After an error of the
 * compiler the build stays stale and the tests run the source.
 */
export function buildForTests() {
  if (!isBuildStale([...builtFrom, 'test/support'])) return;
  if ([compile, makeTemplate].every((step) => runCommand(step, 'ignore').status === 0)) markBuilt();
}

const compile = { command: ['tsc', '-p', 'tsconfig.build.json'] };
const makeTemplate = { command: ['node', 'scripts/build-database-template.mjs'] };

function markBuilt() {
  chmodSync(join(root, 'dist', 'src', 'cli.js'), 0o755);
  // The compiler leaves its files alone when nothing changed, so their times do not tell when it last looked.
  writeFileSync(buildStamp, '');
}

/**
 * Runs commands of this project one after another; ends the process with the code of the first that fails. A quiet step
 * prints only when it fails.
 */
export function runSteps(steps) {
  for (const step of steps) {
    const { status, error, stdout, stderr } = runCommand(step, step.isQuiet ? 'pipe' : 'inherit');
    if (step.isQuiet && status !== 0) process.stderr.write(String(stdout) + String(stderr));
    if (error) console.error(`${step.command.join(' ')}: ${error.message}`);
    if (status !== 0) process.exit(status ?? 1);
  }
}

function runCommand({ command, env = {} }, stdio) {
  const [program, ...args] = command;
  const executable = program === 'node' ? process.execPath : join(binaries, isWindows ? `${program}.cmd` : program);
  return spawnSync(executable, args, {
    cwd: root,
    stdio,
    shell: isWindows && program !== 'node',
    env: { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH ?? ''}`, ...env },
  });
}
