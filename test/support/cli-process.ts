import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { argumentsToRun } from './build.ts';

export interface CliOptions {
  env?: Readonly<Record<string, string>>;
  /** Where butler.toml is looked for; a directory without one unless told otherwise. */
  workingDirectory?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * The arguments of `node`. A process of a test lives for seconds: to optimize the embedded database would take half of
 * its processor time, and come too late to help.
 */
export const cliArguments: readonly string[] = ['--liftoff-only', ...argumentsToRun('src/cli.ts')];

/** Nothing of the surrounding environment but what programs need to run, and no model. */
export function cliEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const defaults = { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing' };
  return { ...defaults, PORT: '0', ...env };
}

const running = new Set<ChildProcessWithoutNullStreams>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function spawnCli(command: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [...cliArguments, ...command], {
    cwd: options.workingDirectory ?? tmpdir(),
    env: cliEnvironment(options.env),
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Runs a command that ends by itself. */
export async function runCli(command: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawnCli(command, options);
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
