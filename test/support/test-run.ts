import type { EngineName } from '../../src/db/engines/engine.ts';

/** What global-setup prepared, for the test files of one run. */
export interface TestRun {
  engine: EngineName;
  /** Everything that the run puts on disk; removed at its end. */
  directory: string;
  /** Prefix of the PostgreSQL databases that the run creates; dropped at its end. */
  databasePrefix: string;
  /** A login that may create databases. Empty for PGlite. */
  adminUrl: string;
  /** Data directories for PGlite, database names for PostgreSQL. */
  templates: TestTemplates;
}

export interface TestTemplates {
  /** No migration applied. */
  empty: string;
  /** Every migration applied. */
  migrated: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    testRun: TestRun;
  }
}

/** The engines to test, as `npm test` names them in the environment. Vitest alone runs on PGlite. */
export function chosenEngines(environment: NodeJS.ProcessEnv): EngineName[] {
  const names = environment['BUTLER_TEST_ENGINES'] ?? 'pglite';
  return names.split(',').map((name) => {
    if (name === 'pglite' || name === 'postgres') return name;
    throw new Error(`BUTLER_TEST_ENGINES must be pglite, postgres or both with a comma between (got ${names})`);
  });
}

/** Whether this is `npm run test:drills`, not `npm test`. */
export function isDrillRun(environment: NodeJS.ProcessEnv): boolean {
  return environment['BUTLER_TEST_DRILLS'] === '1';
}
