import { writeFileSync } from 'node:fs';
import { DefaultReporter, type SerializedError, type TestModule, type TestRunEndReason } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** What `npm test` reads when vitest has ended. */
export interface TestResults {
  /** By the name of the vitest project. */
  projects: Record<string, TestCounts>;
  /** Errors outside every test. */
  errors: number;
  files: { project: string; file: string; milliseconds: number; cpuMilliseconds: number }[];
}

/** Says nothing of what passes but how far the run has come. Failures are printed in full. */
export class QuietReporter extends DefaultReporter {
  readonly #resultsFile: string | undefined;
  #files = 0;
  #ended = 0;

  constructor(resultsFile: string | undefined) {
    super();
    this.#resultsFile = resultsFile;
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    const tenth = Math.ceil(this.#files / 10);
    if (++this.#ended % tenth === 0 && !this.isTTY && tenth > 1) this.log(` ${this.#ended} of ${this.#files} files`);
  }

  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') super.printTestModule(module);
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
    if (this.#resultsFile !== undefined) writeFileSync(this.#resultsFile, JSON.stringify(resultsOf(modules, errors)));
  }
}

function resultsOf(modules: readonly TestModule[], errors: readonly SerializedError[]): TestResults {
  const projects: TestResults['projects'] = {};
  for (const module of modules) {
    const counts = (projects[module.project.name] ??= { passed: 0, failed: 0, skipped: 0 });
    const states = [...module.children.allTests()].map((test) => test.result().state);
    for (const state of states) if (state !== 'pending') counts[state] += 1;
    // A file that cannot be loaded, or whose hook failed, has no failed test to count.
    if (module.state() === 'failed' && !states.includes('failed')) counts.failed += 1;
  }
  const files = modules.map((module) => ({
    project: module.project.name,
    file: module.relativeModuleId,
    milliseconds: Math.round(module.diagnostic().duration + module.diagnostic().collectDuration),
    cpuMilliseconds: module.meta().cpuMilliseconds ?? 0,
  }));
  return { projects, errors: errors.length, files };
}
