import { acquireDirectoryLock } from '../../src/db/engines/directory-lock.ts';
import { readInput } from './run-typescript.ts';

/** Prints `taken` and holds the lock until it is killed, or prints why not. */
const { lockFile, directory } = readInput() as { lockFile: string; directory: string };
try {
  acquireDirectoryLock(lockFile, directory);
  console.log('taken');
  setInterval(() => undefined, 60_000);
} catch (error) {
  console.log((error as Error).message);
}
