import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acquireDirectoryLock, type DirectoryLock } from '../../../src/db/engines/directory-lock.ts';
import { testEngine } from '../../support/database.ts';
import { firstLine, killChild, startTypescript } from '../../support/run-typescript.ts';

describe.runIf(testEngine === 'pglite')('the lock of a data directory', () => {
  let home: string;
  let directory: string;
  let lockFile: string;
  let held: DirectoryLock[];

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'butler-memory-lock-'));
    directory = join(home, 'memory');
    lockFile = `${directory}.lock`;
    held = [];
  });

  afterEach(async () => {
    for (const lock of held) lock.release();
    await rm(home, { recursive: true });
  });

  function acquire(): DirectoryLock {
    const lock = acquireDirectoryLock(lockFile, directory);
    held.push(lock);
    return lock;
  }

  interface Holder {
    pid: number;
    host: string;
    processStart: string | null;
  }

  /** Leaves the lock that this process would have taken, changed in what the test is about. */
  async function leaveLock(changes: Partial<Holder>): Promise<void> {
    acquire();
    const taken = JSON.parse(await readFile(lockFile, 'utf8')) as Holder;
    for (const lock of held.splice(0)) lock.release();
    await writeFile(lockFile, JSON.stringify({ ...taken, token: 'another', ...changes }));
  }

  /** The pid of a process that has ended. */
  function deadPid(): number {
    return spawnSync(process.execPath, ['--version']).pid;
  }

  test('is refused to a second one, who is told the process that holds it', () => {
    acquire();
    expect(acquire).toThrow(`data directory ${directory} is in use by process ${process.pid}`);
  });

  test('is refused to another process as well, until that which holds it is killed', async () => {
    const other = startTypescript('take-lock', { lockFile, directory });
    expect(await firstLine(other)).toBe('taken');
    expect(acquire).toThrow(`is in use by process ${other.pid}`);
    await killChild(other);
    acquire();
  });

  test('can be taken again once it was released, and leaves nothing in the directory', async () => {
    acquire().release();
    expect(await readdir(home)).toEqual([]);
    acquire();
  });

  test('can be released twice, and by then belongs to whoever took it in between', () => {
    const first = acquire();
    first.release();
    acquire();
    first.release();
    expect(acquire).toThrow('is in use by process');
  });

  test('is taken over from a process that has ended', async () => {
    await leaveLock({ pid: deadPid() });
    acquire();
    expect(await readFile(lockFile, 'utf8')).toContain(`"pid":${process.pid}`);
  });

  test.runIf(existsSync('/proc/self/stat'))('is taken over when its pid now belongs to another process', async () => {
    await leaveLock({ pid: process.ppid, processStart: '1' });
    acquire();
  });

  /** A killed process stays in the process table until its parent asks for its exit code; `sleep` never does. */
  test.runIf(existsSync('/proc'))('is taken over from a process that was killed and not yet reaped', async () => {
    const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000']);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const stat = (): string[] => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    await leaveLock({ pid, processStart: stat()[19] ?? null });
    expect(acquire).toThrow(`is in use by process ${pid}`);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => stat()[0]).toBe('Z');
    acquire();
    parent.kill();
  });

  test('is kept by a living process whose start the system does not tell', async () => {
    await leaveLock({ pid: process.ppid, processStart: null });
    expect(acquire).toThrow(`is in use by process ${process.ppid}`);
  });

  test('is taken over when it bears our own pid from before, as after a restart of a container', async () => {
    await leaveLock({ pid: process.pid });
    acquire();
  });

  test.each(['', 'not json', '{}', '{"pid": "1"}', 'null'])('is taken over when it reads %j', async (content) => {
    await writeFile(lockFile, content);
    acquire();
  });

  test('is kept by a process on another host while that gives signs of life', async () => {
    await leaveLock({ host: `not-${hostname()}`, pid: deadPid() });
    expect(acquire).toThrow(`on not-${hostname()}`);
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(lockFile, longAgo, longAgo);
    acquire();
  });

  test('goes to one alone of many processes that find a dead one', async () => {
    await leaveLock({ pid: deadPid() });
    const starters = Array.from({ length: 4 }, () => startTypescript('take-lock', { lockFile, directory }));
    const answers = await Promise.all(starters.map(firstLine));
    await Promise.all(starters.map(killChild));
    expect(answers.filter((answer) => answer === 'taken')).toHaveLength(1);
    expect(answers.filter((answer) => answer?.includes('is in use by process'))).toHaveLength(3);
  });

  test('cannot be taken below a file, and says what to set', async () => {
    await writeFile(directory, '');
    expect(() => acquireDirectoryLock(join(directory, 'memory.lock'), join(directory, 'memory'))).toThrow(
      /cannot be written \((ENOTDIR|EEXIST)\): set BUTLER_MEMORY_HOME/,
    );
  });

  test.runIf(process.getuid?.() !== 0)('cannot be taken where this user may not write', async () => {
    await mkdir(join(home, 'closed'), { mode: 0o500 });
    expect(() => acquireDirectoryLock(join(home, 'closed', 'memory.lock'), join(home, 'closed', 'memory'))).toThrow(
      'cannot be written (EACCES)',
    );
  });
});
