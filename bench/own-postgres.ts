import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../src/shared/package-root.ts';

const run = promisify(execFile);
const script = join(packageRoot, 'scripts', 'postgres-for-tests.sh');

/** A PostgreSQL server of the benchmark's own, which it may stop and start. */
export interface OwnPostgres {
  url(database: string): string;
  /** Restarts the server with nothing of its data in memory: neither in its own buffers nor in those of the system. */
  restartCold(): Promise<void>;
}

/** Does the work with a server in that directory, whose data stays for the next run, or else in one that is removed. */
export async function withOwnPostgres<T>(
  kept: string | undefined,
  work: (postgres: OwnPostgres) => Promise<T>,
): Promise<T> {
  const directory = kept ?? (await mkdtemp(join(tmpdir(), 'butler-memory-bench-')));
  await mkdir(directory, { recursive: true });
  // As root the server runs as another user, who has to reach its data.
  await chmod(directory, 0o755);
  let address = await start(directory);
  try {
    return await work({
      url: (database) => new URL(`/${database}`, address).toString(),
      restartCold: async () => {
        await stop(directory);
        await forgetFiles(directory);
        address = await start(directory);
      },
    });
  } finally {
    await stop(directory);
    if (kept === undefined) await rm(directory, { recursive: true, force: true });
  }
}

async function start(directory: string): Promise<string> {
  const { stdout } = await run('sh', [script, 'start', directory, '--durable']);
  const address = /^DATABASE_URL=(.*)$/m.exec(stdout)?.[1];
  if (address === undefined) throw new Error(`${script} printed no DATABASE_URL`);
  return address;
}

async function stop(directory: string): Promise<void> {
  await run('sh', [script, 'stop', directory]);
}

/** Has the system drop its cached pages of the files: for dd, `nocache` with a count of 0 means the whole file. */
async function forgetFiles(directory: string): Promise<void> {
  await run('sync');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath.includes('/base/'));
  for (const { parentPath, name } of files) {
    await run('dd', [`if=${join(parentPath, name)}`, 'iflag=nocache', 'count=0', 'status=none']);
  }
}
