import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';

export interface ProgramRun {
  readonly program: string;
  readonly arguments: readonly string[];
  /** All of it: nothing is inherited. */
  readonly environment: Record<string, string>;
  readonly input: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

export interface ProgramResult {
  readonly end: ProgramEnd;
  readonly output: string;
  /** The last of what it wrote to its standard error, without the values of its environment. */
  readonly errors: string;
}

export type ProgramEnd =
  | { readonly kind: 'exit'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'not started'; readonly code: string }
  | { readonly kind: 'timeout' | 'too much output' | 'aborted' };

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Without a shell, in a directory that holds nothing of ours, and with an end to everything that it starts. */
export async function runProgram(run: ProgramRun): Promise<ProgramResult> {
  if (run.signal.aborted) return { end: { kind: 'aborted' }, output: '', errors: '' };
  const child: Child = spawn(run.program, run.arguments, {
    cwd: tmpdir(),
    env: run.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that it can be ended with its children.
    detached: true,
    windowsHide: true,
  });
  // A program may end without having read its input: its exit code says what that is worth.
  child.stdin.on('error', () => undefined);
  child.stdin.end(run.input);
  const result = await new Promise<ProgramResult>((resolve) => watch(child, run, resolve));
  return { ...result, errors: hideValues(result.errors, run.environment) };
}

const errorTailCharacters = 1000;

function watch(child: Child, run: ProgramRun, resolve: (result: ProgramResult) => void): void {
  const output: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  let early: ProgramEnd | undefined;
  const endEarly = (kind: 'timeout' | 'too much output' | 'aborted'): void => {
    early ??= { kind };
    killGroup(child);
  };
  const abort = (): void => endEarly('aborted');
  const timer = setTimeout(() => endEarly('timeout'), run.timeoutMs);
  run.signal.addEventListener('abort', abort, { once: true });
  const finish = (end: ProgramEnd): void => {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', abort);
    resolve({ end: early ?? end, output: early === undefined ? Buffer.concat(output).toString('utf8') : '', errors });
  };
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > run.maxOutputBytes) endEarly('too much output');
    else output.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-errorTailCharacters);
  });
  child.on('error', (error: NodeJS.ErrnoException) => finish({ kind: 'not started', code: error.code ?? error.name }));
  // What it left running holds its pipes open, and would keep us waiting for it.
  child.on('exit', () => killGroup(child));
  child.on('close', (code, signal) => finish({ kind: 'exit', code, signal }));
}

function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

/** Shorter values are no secrets, and would blot out half of the text. */
const shortestSecret = 8;

function hideValues(errors: string, environment: Record<string, string>): string {
  const secrets = Object.values(environment).filter((value) => value.length >= shortestSecret);
  return secrets.reduce((text, value) => text.replaceAll(value, '***'), errors);
}
