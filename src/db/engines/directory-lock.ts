import { linkSync, mkdirSync, readFileSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { MemoryError } from '../../shared/errors.ts';
import { toMemoryError } from '../database-errors.ts';

/** PGlite has no lock of its own, and two processes on one directory destroy each other's committed rows. */
export interface DirectoryLock {
  release(): void;
}

const holderSchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  command: z.string(),
  startedAt: z.string(),
  /** Tells this process from a later one with the same pid. Null where the system does not say. */
  processStart: z.string().nullable(),
  token: z.string(),
});
type Holder = z.infer<typeof holderSchema>;

const heartbeatMs = 5_000;
/** A holder on another host cannot be asked whether it lives; silence for this long counts as its death. */
const foreignSilenceMs = 30_000;
const takeoverAttempts = 5;

export function acquireDirectoryLock(lockFile: string, directory: string, now = new Date()): DirectoryLock {
  const holder: Holder = {
    pid: process.pid,
    host: hostname(),
    command: 'butler-memory',
    startedAt: now.toISOString(),
    processStart: readProcessStart(process.pid),
    token: randomUUID(),
  };
  makeDirectory(dirname(lockFile));
  for (let attempt = 0; attempt < takeoverAttempts; attempt++) {
    if (tryCreate(lockFile, holder)) return heldLock(lockFile, holder);
    const other = readHolder(lockFile);
    if (other !== null && isAlive(other, lockFile)) throw inUse(directory, lockFile, other);
    removeStale(lockFile, other);
  }
  throw new MemoryError(
    'STARTUP',
    `${directory} could not be locked: ${lockFile} changed hands ${takeoverAttempts} times`,
  );
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unwritable(directory, cause);
  }
}

function unwritable(directory: string, cause: unknown): unknown {
  const told = toMemoryError(cause);
  if (told instanceof MemoryError) return told;
  return new MemoryError(
    'STARTUP',
    `data directory ${directory} cannot be written (${(cause as NodeJS.ErrnoException).code ?? String(cause)}): set BUTLER_MEMORY_HOME to a directory that this user may write`,
    { cause },
  );
}

/** A hard link appears with its whole content or not at all, so no reader ever sees half a lock. */
function tryCreate(lockFile: string, holder: Holder): boolean {
  const draft = `${lockFile}.${holder.token}`;
  try {
    writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
    linkSync(draft, lockFile);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(dirname(lockFile), cause);
  } finally {
    rmSync(draft, { force: true });
  }
}

function readHolder(lockFile: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(lockFile, 'utf8')));
  } catch {
    return null; // Gone meanwhile, or not one of ours: removeStale decides on what is there then.
  }
}

function isAlive(holder: Holder, lockFile: string): boolean {
  if (holder.host !== hostname()) return Date.now() - modifiedAt(lockFile) < foreignSilenceMs;
  if (heldHere.has(holder.token)) return true;
  if (holder.pid === process.pid) return false;
  if (!processExists(holder.pid) || isZombie(holder.pid)) return false;
  return holder.processStart === null || holder.processStart === readProcessStart(holder.pid);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Killed, but its parent has not yet asked for its exit code: after kill -9 a quick restart meets its predecessor so. */
function isZombie(pid: number): boolean {
  return readProcessFields(pid)[0] === 'Z';
}

/** Field 22 of /proc/<pid>/stat. */
function readProcessStart(pid: number): string | null {
  return readProcessFields(pid)[19] ?? null;
}

/** From the third field on; none where the system does not say. The name before may hold spaces and brackets. */
function readProcessFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/**
 * Two starters may both find the same dead lock. The one that creates the takeover file removes it, and only if it
 * still is the one that was judged dead; the other tries again and meets the winner.
 */
function removeStale(lockFile: string, judged: Holder | null): void {
  const takeover = `${lockFile}.takeover`;
  if (isLeftBehind(takeover)) rmSync(takeover, { force: true });
  try {
    writeFileSync(takeover, '', { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw unwritable(dirname(lockFile), error);
  }
  try {
    if (readHolder(lockFile)?.token === judged?.token) rmSync(lockFile, { force: true });
  } finally {
    rmSync(takeover, { force: true });
  }
}

/** Not if there is none: another starter may make its own before this one gets to removing it. */
function isLeftBehind(takeover: string): boolean {
  const modified = modifiedAt(takeover);
  return modified > 0 && Date.now() - modified > foreignSilenceMs;
}

const heldHere = new Set<string>();

function heldLock(lockFile: string, holder: Holder): DirectoryLock {
  heldHere.add(holder.token);
  const heartbeat = setInterval(() => touch(lockFile), heartbeatMs).unref();
  const release = (): void => {
    if (!heldHere.delete(holder.token)) return;
    clearInterval(heartbeat);
    process.off('exit', release);
    if (readHolder(lockFile)?.token === holder.token) unlinkSync(lockFile);
  };
  process.on('exit', release);
  return { release };
}

function touch(lockFile: string): void {
  try {
    utimesSync(lockFile, new Date(), new Date());
  } catch {
    // The directory was removed under us: the database's own writes will say so.
  }
}

function inUse(directory: string, lockFile: string, holder: Holder): MemoryError {
  return new MemoryError(
    'STARTUP',
    `data directory ${directory} is in use by process ${holder.pid} (${holder.command}) on ${holder.host}, started ${holder.startedAt}`,
    { hint: `Stop that process, or set BUTLER_MEMORY_HOME to another directory. The lock is ${lockFile}.` },
  );
}
