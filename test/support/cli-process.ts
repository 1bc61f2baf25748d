import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { vi } from 'vitest';
import { packageRoot } from '../../src/package-root.ts';

// For every file that starts processes: on a busy machine one start takes many seconds.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

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

/** The build when it is fresh, because it starts faster, else the source. The arguments of `node` either way. */
export const cliArguments: readonly string[] = isBuildFresh()
  ? [join(packageRoot, 'dist', 'src', 'cli.js')]
  : ['--import', tsxUrl(), join(packageRoot, 'src', 'cli.ts')];

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

function isBuildFresh(): boolean {
  const built = join(packageRoot, 'dist', 'build.stamp');
  if (!existsSync(built)) return false;
  const sources = ['src', 'jobs'].flatMap((folder) => listFiles(join(packageRoot, folder)));
  return Math.max(...sources.map(modifiedAt)) < modifiedAt(built);
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function modifiedAt(file: string): number {
  return statSync(file).mtimeMs;
}

function tsxUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
