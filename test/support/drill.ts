/** Whether this is `npm run test:drills`, which runs the files that import this module, in their long form. */
const isLongForm = process.env['BUTLER_TEST_DRILLS'] === '1';

/**
 * How much of an exhaustive test to run: a sample in `npm test`, so that a developer notices breakage within minutes, and
 * all of it in `npm run test:drills`.
 */
export function drill<T>({ sample, all }: { sample: T; all: T }): T {
  return isLongForm ? all : sample;
}
