import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

/** Those that start processes or try everything: one of them at the end would leave all cores but one idle. */
const long = /test\/(cli|isolation|fuzz)\/|crash|kill|processes|query-plan|end-to-end|audit-chain|activity-feeds/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's, not an array's
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => long.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  // Vite would take graphql's other build, and two copies of graphql do not know each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Every file makes its own database, server and home. To load the product anew for each took a quarter of the time.
    isolate: false,
    // The default leaves one core idle, which on two is half of the time.
    maxWorkers: '100%',
    sequence: { sequencer: LongFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
