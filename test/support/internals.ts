import { expect } from 'vitest';

/** What no caller may ever see: SQL, the names of our tools, paths, stack traces. */
const internals =
  /\b(select|insert into|update|delete from) [\w"$]+|relation "|prisma|pglite|node_modules|file:\/\/|\/src\/|\/dist\/|\.[jt]s:\d|\n +at |call stack/i;

export function expectNoInternals(text: string): void {
  expect(text).not.toMatch(internals);
}
