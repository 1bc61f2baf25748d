import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const binaries = join(root, 'node_modules', '.bin');
const isWindows = process.platform === 'win32';

export const buildStamp = join(root, 'dist', 'build.stamp');

export function build() {
  runSteps([
    { command: ['node', 'scripts/generate.mjs', '--uncommitted'] },
    { command: ['tsc', '-p', 'tsconfig.build.json'] },
    { command: ['node', 'scripts/build-database-template.mjs'] },
  ]);
  chmodSync(join(root, 'dist', 'src', 'cli.js'), 0o755);
  // The compiler leaves its files alone when nothing changed, so their times do not tell when it last looked.
  writeFileSync(buildStamp, '');
}

/** Runs commands of this project one after another; ends the process with the code of the first that fails. */
export function runSteps(steps) {
  for (const { command, env = {} } of steps) {
    const [program, ...args] = command;
    const executable = program === 'node' ? process.execPath : join(binaries, isWindows ? `${program}.cmd` : program);
    const { status, error } = spawnSync(executable, args, {
      cwd: root,
      stdio: 'inherit',
      shell: isWindows && program !== 'node',
      env: { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH ?? ''}`, ...env },
    });
    if (error) console.error(`${command.join(' ')}: ${error.message}`);
    if (status !== 0) process.exit(status ?? 1);
  }
}
