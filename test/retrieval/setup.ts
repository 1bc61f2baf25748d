import { afterAll, beforeAll } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import type { SearchOutcome } from '../../src/retrieval/search.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

export interface Retrieval {
  readonly app: TestApp;
  /** The operator of a tenant, with parts of it changed. */
  context(changes?: {
    principal?: Partial<Principal>;
    retrieval?: Partial<Config['memory']['retrieval']>;
  }): MemoryContext;
  after<T>(days: number, work: () => Promise<T>): Promise<T>;
}

/** A server of the file's own. Each test takes a tenant of its own, so that none finds what another stored. */
export function useRetrieval(): Retrieval {
  let app: TestApp | undefined;
  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app?.close());
  const open = (): TestApp => {
    if (app === undefined) throw new Error('the test server is not open yet');
    return app;
  };
  return {
    get app() {
      return open();
    },
    context: ({ principal = {}, retrieval = {} } = {}) => {
      const { memory } = open().app.createContext();
      const { config } = memory;
      return {
        ...memory,
        principal: { ...memory.principal, ...principal },
        db: memory.db.database.forTenant(principal.tenantId ?? memory.principal.tenantId),
        config: { ...config, memory: { ...config.memory, retrieval: { ...config.memory.retrieval, ...retrieval } } },
      };
    },
    after: async (days, work) => {
      const { clock } = open();
      const before = clock.now;
      clock.now = new Date(before.getTime() + days * 86_400_000);
      try {
        return await work();
      } finally {
        clock.now = before;
      }
    },
  };
}

let tenants = 0;

export function newTenant(): { tenantId: string } {
  tenants += 1;
  return { tenantId: `tenant-${tenants}` };
}

export function contentsOf({ results }: Pick<SearchOutcome, 'results'>): string[] {
  return results.map(({ memory }) => memory.row.content);
}
