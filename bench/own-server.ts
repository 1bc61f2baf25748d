import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../src/shared/package-root.ts';

/** Does the work with a server of its own, as it is built, a process on a free port that reads the butler.toml of that directory. */
export async function withOwnServer<T>(
  directory: string,
  env: Record<string, string>,
  work: (address: string) => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, [join(packageRoot, 'dist', 'src', 'cli.js'), 'serve'], {
    cwd: directory,
    env: { ...process.env, ...env, LOG_LEVEL: 'info', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    return await work(await addressOf(child.stdout, ended));
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** Reads on to the end: a server whose log nobody reads stops at some point. */
function addressOf(log: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let address = '';
    createInterface({ input: log }).on('line', (line) => {
      const { msg, url } = JSON.parse(line) as { msg: string; url?: string };
      address = url ?? address;
      if (msg.startsWith('ready')) resolve(address);
    });
    void ended.then(() => reject(new Error('the server ended before it was ready')));
  });
}
