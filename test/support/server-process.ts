import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { packageRoot } from '../../src/shared/package-root.ts';
import { cliEnvironment, spawnCli } from './cli-process.ts';
import { testConfig } from './config.ts';
import { copyDirectory } from './copy-directory.ts';
import { databaseUrl, withAdmin } from './postgres-admin.ts';
import { testDatabaseOptions } from './templates.ts';

export interface LogLine {
  level: string;
  msg: string;
  requestId?: string;
  [name: string]: unknown;
}

/** A part of its message, or a description of the line. */
export type Wanted = string | ((line: LogLine) => boolean);

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it has logged so far. */
  logs(): LogLine[];
  /** What it has written to standard error so far. */
  errors(): string;
  /** Resolves with the first line, past or to come, that is looked for; rejects if the process ends before. */
  logged(wanted: Wanted): Promise<LogLine>;
  /** Sends a signal; the process then ends in its own time. */
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or with the name of the signal that ended the process. */
  ended: Promise<number | NodeJS.Signals>;
  /** Sends the signal and waits for the end. Does nothing more when it has ended already. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  kill9(): Promise<void>;
}

export interface ServerProcessOptions {
  /** Where the data is: of `createServerHome`. */
  home: ServerHome;
  env?: Readonly<Record<string, string>>;
}

/** The real command line, as a process of its own on a free port. Answers once it is listening. */
export async function startServerProcess({ home, env = {} }: ServerProcessOptions): Promise<ServerProcess> {
  const child = spawnCli(['serve'], { env: { ...home.env, ...env }, workingDirectory: home.directory });
  const server = watch(child);
  const { url } = await server.logged('listening on');
  return { ...server, url: url as string };
}

/**
 * A real `npm start`. `pid` is npm's; `kill9` ends its whole process group, so that a server that outlives npm does not
 * outlive the test.
 */
export async function startThroughNpm({ home, env = {} }: ServerProcessOptions): Promise<ServerProcess> {
  const child = spawn('npm', ['start', '--silent'], {
    cwd: packageRoot,
    detached: true,
    env: cliEnvironment({ ...home.env, ...env }),
  });
  const server = watch(child);
  const { url } = await server.logged('listening on');
  return { ...server, url: url as string, kill9: async () => killGroup(server.pid) };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function watch(child: ChildProcessWithoutNullStreams): Omit<ServerProcess, 'url'> {
  const lines: LogLine[] = [];
  const listeners = new Set<() => void>();
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as LogLine);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL')),
  );
  const logged = (wanted: Wanted): Promise<LogLine> =>
    new Promise((resolve, reject) => {
      const isWanted = typeof wanted === 'string' ? ({ msg }: LogLine) => msg.includes(wanted) : wanted;
      const look = (): void => {
        const found = lines.find(isWanted);
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
      void ended.then((code) => reject(new Error(`ended with ${code} and never logged ${String(wanted)}: ${errors}`)));
    });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    logs: () => [...lines],
    errors: () => errors,
    logged,
    signal: (name) => void child.kill(name),
    ended,
    stop,
    kill9: async () => void (await stop('SIGKILL')),
  };
}

export interface ServerHome {
  /** Working directory of the server: a butler.toml put here is read. */
  readonly directory: string;
  /** What leads a server to this data. */
  readonly env: Readonly<Record<string, string>>;
  /** As the owner of the tables, while no server runs. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  remove(): Promise<void>;
}

/** A place for the data of one or several server processes, one after another: migrated and empty. */
export async function createServerHome(): Promise<ServerHome> {
  const { directory: parent, engine } = inject('testRun');
  const directory = await mkdtemp(join(parent, 'server-'));
  const home = join(directory, 'home');
  const { env, drop } = engine === 'pglite' ? await copyPglite(home) : await copyPostgres(home);
  return {
    directory,
    env,
    query: async (sql) => {
      const url = env['DATABASE_URL'];
      const database = await openDatabase({ ...testDatabaseOptions, home, name: testConfig().db.name, url });
      const { rows } = await database.asOwner((client) => client.query<Record<string, unknown>>(sql));
      await database.close();
      return rows;
    },
    remove: async () => {
      await drop();
      await rm(directory, { recursive: true });
    },
  };
}

type Copy = Pick<ServerHome, 'env'> & { drop: () => Promise<void> };

async function copyPglite(home: string): Promise<Copy> {
  await copyDirectory(inject('testRun').templates.migrated, join(home, testConfig().db.name));
  return { env: { BUTLER_MEMORY_HOME: home }, drop: async () => undefined };
}

async function copyPostgres(home: string): Promise<Copy> {
  const { adminUrl, databasePrefix, templates } = inject('testRun');
  const name = databasePrefix + randomBytes(4).toString('hex');
  await withAdmin(adminUrl, (client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${templates.migrated}"`));
  return {
    env: { BUTLER_MEMORY_HOME: home, DATABASE_URL: databaseUrl(adminUrl, name) },
    drop: async () => {
      await withAdmin(adminUrl, (client) => client.query(`DROP DATABASE "${name}" WITH (FORCE)`));
    },
  };
}
