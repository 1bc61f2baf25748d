import { embedderOptions, type MemoryCore } from '../../src/create-memory.ts';
import { millisecondsPerDay } from '../../src/shared/durations.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import { newRequestContext } from '../../src/shared/request-context.ts';
import { createCaches } from '../../src/memory/caches.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { testConfig } from './config.ts';
import { takeTestDatabase } from './reused-database.ts';

export interface TestCore extends MemoryCore {
  /** What `context.now()` says; set it to move through days. */
  clock: { now: Date };
  /** Where the clock stood at first. */
  start: Date;
  /** So many days after the start. */
  day(number: number): Date;
  /** Does the work on that day; the clock stands where it stood before after it. */
  onDay<T>(number: number, work: () => Promise<T>): Promise<T>;
  /** Of the operator of the tenant `default`, and of a request of its own, but for what is given. */
  context(principal?: Partial<Principal>): MemoryContext;
}

/** The core without any door: a database of its own, the hashing embedder and a clock that stands still. */
export async function createTestCore(config = testConfig()): Promise<TestCore> {
  const { database: db, drop } = await takeTestDatabase();
  const start = new Date('2026-03-01T12:00:00.000Z');
  const clock = { now: start };
  const logger = createLogger(config);
  const embedder = await createEmbedder(embedderOptions(config, logger));
  const vault = createVault(config, logger);
  const caches = createCaches();
  const now = (): Date => clock.now;
  const day = (number: number): Date => new Date(start.getTime() + number * millisecondsPerDay);
  return {
    config,
    logger,
    db,
    embedder,
    vault,
    caches,
    now,
    clock,
    start,
    day,
    onDay: async (number, work) => {
      const before = clock.now;
      clock.now = day(number);
      return work().finally(() => {
        clock.now = before;
      });
    },
    context: (principal) => ({
      db: db.forTenant(principal?.tenantId ?? 'default'),
      now,
      embedder,
      vault,
      caches,
      logger,
      config,
      principal: { tenantId: 'default', butler: null, role: 'operator', ...principal },
      requestContext: newRequestContext(),
    }),
    close: async () => {
      await embedder.close();
      await drop();
    },
  };
}

/** The last event on a memory, of that type if one is named. */
export async function lastEventOf(
  { db }: Pick<MemoryCore, 'db'>,
  entityId: string,
  eventType?: string,
): Promise<string> {
  const where = { entityId, ...(eventType !== undefined && { eventType }) };
  const event = await db
    .forTenant('default')
    .client.memoryEvent.findFirstOrThrow({ where, orderBy: { sequence: 'desc' } });
  return event.id;
}
