import { existsSync, readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

/**
 * Notes how long a file kept a processor busy, which tells more than its duration where other work runs beside the tests.
 * Child processes count when they have ended; PostgreSQL does not count.
 */
declare module 'vitest' {
  interface TaskMeta {
    cpuMilliseconds?: number;
  }
}

/** Linux counts in hundredths of a second. */
const millisecondsPerTick = 10;
const own = '/proc/self/stat';
const before = cpuMilliseconds();

// oxlint-disable-next-line no-empty-pattern -- vitest wants the first argument destructured
afterAll(({}, { file }) => {
  file.meta.cpuMilliseconds = cpuMilliseconds() - before;
});

/** Of this process and the children it waited for. Elsewhere than on Linux, of this process. */
function cpuMilliseconds(): number {
  if (!existsSync(own)) {
    const { user, system } = process.cpuUsage();
    return Math.round((user + system) / 1000);
  }
  // The name of the program, in brackets, may hold spaces. utime is field 14.
  const fields = readFileSync(own, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * millisecondsPerTick, 0);
}
