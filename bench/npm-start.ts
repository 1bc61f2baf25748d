import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../src/shared/package-root.ts';

export interface StartedServer {
  url: string;
  /** Of the server itself, which npm started. */
  pid: number;
  /** Milliseconds from the command to the first line of the log, to the first answer, and until the model was loaded. */
  firstLine: number;
  answered: number;
  ready: number;
  /** Ends npm and all that it started. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

interface LogLine {
  msg: string;
  url?: string;
}

/** Starts the server as README tells a user to, on the embedded database in that directory. */
export async function npmStart(home: string): Promise<StartedServer> {
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  const child = spawn('npm', ['start', '--silent'], {
    cwd: packageRoot,
    env: { ...process.env, BUTLER_MEMORY_HOME: home, DATABASE_URL: '', PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(child, 'close');
  let firstLine = 0;
  let url = '';
  let answered: Promise<number> | undefined;
  const ready = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      // A build that had to come first prints lines of its own, which are no JSON.
      if (!text.startsWith('{')) return;
      firstLine ||= elapsed();
      const line = JSON.parse(text) as LogLine;
      url ||= line.url ?? '';
      if (line.url !== undefined) answered ??= askHealth(line.url).then(elapsed);
      if (line.msg.startsWith('ready')) resolve(elapsed());
    });
    void ended.then(() => reject(new Error('the server ended before it was ready')));
  });
  return {
    url,
    pid: lockHolder(home),
    firstLine,
    answered: (await answered) ?? ready,
    ready,
    end: async (signal) => {
      // npm does not pass the signal on to the server: the whole group gets it.
      process.kill(-(child.pid ?? 0), signal);
      await ended;
    },
  };
}

/** The process that holds the data directory is the server. */
function lockHolder(home: string): number {
  return (JSON.parse(readFileSync(join(home, 'butler_memory.lock'), 'utf8')) as { pid: number }).pid;
}

async function askHealth(url: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ health { status } }' }),
  });
  if (!response.ok) throw new Error(`health answered ${response.status}`);
  await response.text();
}
