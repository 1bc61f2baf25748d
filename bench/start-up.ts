import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../src/package-root.ts';
import { milliseconds, ratio, type Benchmark } from './benchmark.ts';

export const startUp: Benchmark = {
  question: 'How long after `npm start` does the server answer, the first time (15 s at most) and later (3 s at most)?',
  measure: async () => {
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    try {
      const first = await timeStart(home);
      const later = await timeStart(home);
      return [
        { what: 'first start: answers a health query', value: milliseconds(first.answered) },
        { what: 'first start: ready, model loaded', value: milliseconds(first.ready) },
        {
          what: 'later start: answers a health query (of first)',
          value: `${milliseconds(later.answered)} (${ratio(later.answered, first.answered)})`,
        },
        { what: 'later start: ready, model loaded', value: milliseconds(later.ready) },
      ];
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

async function timeStart(home: string): Promise<{ answered: number; ready: number }> {
  const startedAt = performance.now();
  const child = spawn('npm', ['start', '--silent'], {
    cwd: packageRoot,
    env: { ...process.env, BUTLER_MEMORY_HOME: home, PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    let answered: Promise<number> | undefined;
    for await (const { msg, url } of logLines(child)) {
      if (url !== undefined) answered = askHealth(url).then(() => performance.now() - startedAt);
      if (msg.startsWith('ready') && answered !== undefined) {
        const ready = performance.now() - startedAt;
        return { answered: await answered, ready };
      }
    }
    throw new Error('the server ended before it was ready');
  } finally {
    // npm does not pass the signal on to the server: the whole group gets it.
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await once(child, 'exit');
  }
}

interface LogLine {
  msg: string;
  url?: string;
}

/** A build that had to come first prints lines of its own, which are no JSON. */
async function* logLines(child: ChildProcess): AsyncGenerator<LogLine> {
  for await (const text of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if (text.startsWith('{')) yield JSON.parse(text) as LogLine;
  }
}

async function askHealth(url: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ health { status } }' }),
  });
  if (!response.ok) throw new Error(`health answered ${response.status}`);
}
