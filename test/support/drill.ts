import { isDrillRun } from './test-run.ts';

/**
 * How much of an exhaustive test to run: a sample in `npm test`, so that a developer notices breakage within minutes, and
 * all of it in `npm run test:drills`, which runs the files that import this module.
 */
export function drill<T>({ sample, all }: { sample: T; all: T }): T {
  return isDrillRun(process.env) ? all : sample;
}
