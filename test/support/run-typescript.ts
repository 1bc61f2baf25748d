import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { argumentsToRun } from './build.ts';

export type TypescriptChild = ChildProcessByStdio<null, Readable, Readable>;

/** Starts test/support/<script>.ts in a process of its own, with one argument: `input` as JSON. */
export function startTypescript(script: string, input: unknown): TypescriptChild {
  const run = argumentsToRun(`test/support/${script}.ts`);
  return spawn(process.execPath, [...run, JSON.stringify(input)], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** What the script printed, as JSON. Throws with what it wrote to stderr if it failed. */
export async function runTypescript<T>(script: string, input: unknown): Promise<T> {
  const child = startTypescript(script, input);
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, output, errors] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${script}.ts ended with code ${code}:\n${errors}`);
  return JSON.parse(output) as T;
}

/** Null if it ends without having printed one. */
export async function firstLine(child: TypescriptChild): Promise<string | null> {
  for await (const line of createInterface({ input: child.stdout })) return line;
  return null;
}

/** Ends at once, as a loss of power would, and waits for the end. */
export async function killChild(child: TypescriptChild): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** For the script's side, which says what it was given. */
export function readInput(): unknown {
  return JSON.parse(process.argv[2] ?? 'null');
}
