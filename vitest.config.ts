import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { QuietReporter } from './test/support/quiet-reporter.ts';
import { findTestFiles } from './test/support/test-files.ts';
import { chosenEngines, isDrillRun } from './test/support/test-run.ts';

/** Those that start processes or try everything: one of them at the end would leave all cores but one idle. */
const long = /test\/(commands|isolation|fuzz)\/|crash|kill|processes|query-plan|end-to-end|audit-chain|activity-feeds/;

/** One project after the other, as a worker is kept only while the next file is of the same project. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's, not an array's
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification): number =>
      2 * names.indexOf(project.name) + (long.test(moduleId) ? 0 : 1);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

const engines = chosenEngines(process.env);
const { withoutDatabase, perEngine, drills } = findTestFiles(import.meta.dirname);
const isDrills = isDrillRun(process.env);
const only = (files: string[]): string[] => (isDrills ? files.filter((file) => drills.includes(file)) : files);

/**
 * Files that `npm test` runs on one engine and the drills on the other. The doors know no engine: what lies under them is
 * tested on both. A process starts sooner on PostgreSQL, and the rest of the command line is about the embedded database.
 * A file of a door that asks for the engine runs on both. With one engine chosen, that engine runs them all.
 */
const onOneEngine = /\/test\/(commands|isolation|http|graphql|mcp)\//;
/** On PGlite through the core in `npm test`, and through the other doors in the drills. */
const throughDoors = /\/test\/contract\/(?!references\.)/;
const onPglite = /\/test\/commands\/(?!commands\.|stop\.|failed-start\.|mcp-stdio\.)/;

function runsOnBoth(file: string): boolean {
  const isAboutEngine = (): boolean =>
    !file.includes('/test/commands/') && readFileSync(file, 'utf8').includes('testEngine');
  return !onOneEngine.test(file) || isAboutEngine();
}

function listFilesFor(engine: string): string[] {
  if (engines.length === 1) return only(perEngine);
  const isTurn = (file: string): boolean => {
    if (isDrills && engine === 'pglite' && throughDoors.test(file)) return true;
    if (runsOnBoth(file)) return !isDrills || drills.includes(file);
    const engineOfTests = onPglite.test(file) ? 'pglite' : 'postgres';
    return isDrills ? drills.includes(file) || engine !== engineOfTests : engine === engineOfTests;
  };
  return perEngine.filter(isTurn);
}

// Below the longest grace of a server, 600 s: a stop that waits for what it should not fails by this limit.
const timeoutMs = isDrills ? 1_800_000 : 540_000;

const projects = [
  { name: 'no database', include: only(withoutDatabase) },
  ...engines.map((name) => ({
    name,
    include: listFilesFor(name),
    globalSetup: ['test/support/global-setup.ts'],
  })),
].filter(({ include }) => include.length > 0);
const names = projects.map(({ name }) => name);

export default defineConfig({
  // Vite would take graphql's other build, and two copies of graphql do not know each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    projects: projects.map((test) => ({ extends: true, test })),
    reporters: [new QuietReporter(process.env['BUTLER_TEST_RESULTS'])],
    silent: 'passed-only',
    setupFiles: ['test/support/fail-on-warning.ts', 'test/support/count-cpu.ts'],
    pool: 'forks',
    // Every file makes its own database, server and home. To load the product anew for each took a quarter of the time.
    isolate: false,
    // One more than cores: a worker that waits for a server or a child process leaves its core to the next one.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    // These limits only end what hangs: no test depends on how fast the machine is.
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    expect: { poll: { timeout: 120_000 } },
  },
});
