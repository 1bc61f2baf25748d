import { expect } from 'vitest';
import type { TenantClient } from '../../src/db/database.ts';
import type { SweepOptions, SweepReport } from '../../src/lifecycle/sweep.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import type { TestCore } from '../support/core.ts';
import { storeFact } from '../support/writes.ts';

export type SweepFunction = (context: MemoryContext, options: SweepOptions) => Promise<SweepReport>;

/** A tenant of its own in a database that several tests share, on the day of the start. */
export interface Scene {
  readonly core: TestCore;
  readonly tenantId: string;
  readonly client: TenantClient;
  context(principal?: Partial<Principal>): MemoryContext;
  /** A fact of a key of its own. */
  fact(input?: Partial<StoreFactInput>): Promise<Fact>;
  validityOf(type: 'fact' | 'rule', id: string): Promise<string>;
  /** What the events say has been done to a memory, in order. */
  eventTypesOf(entityId: string): Promise<string[]>;
  /** The id of the last event of that type on a memory. */
  lastEvent(entityId: string, eventType: string): Promise<string>;
  countEvents(): Promise<number>;
  /** As a job does it: a dry run that says the same, the run, a second one that finds nothing, and tables that agree. */
  sweepOnce(sweep: SweepFunction): Promise<SweepReport>;
}

let scenes = 0;

export function newScene(core: TestCore): Scene {
  core.clock.now = core.start;
  const tenantId = `tenant-${++scenes}`;
  const client = core.db.forTenant(tenantId).client;
  const context = (principal?: Partial<Principal>): MemoryContext => core.context({ tenantId, ...principal });
  let facts = 0;
  const scene: Scene = {
    core,
    tenantId,
    client,
    context,
    fact: (input = {}) =>
      storeFact(context(), { subject: 'user', predicate: `predicate ${++facts}`, content: 'tea', ...input }),
    validityOf: async (type, id) => {
      const where = { tenantId_id: { tenantId, id } };
      const found = type === 'fact' ? client.fact.findUnique({ where }) : client.rule.findUnique({ where });
      return (await found)?.validity ?? expect.unreachable(`${type} ${id} is not there`);
    },
    eventTypesOf: async (entityId) => {
      const events = await client.memoryEvent.findMany({ where: { entityId }, orderBy: { sequence: 'asc' } });
      return events.map(({ eventType }) => eventType);
    },
    lastEvent: async (entityId, eventType) => {
      const where = { entityId, eventType };
      return (await client.memoryEvent.findFirstOrThrow({ where, orderBy: { sequence: 'desc' } })).id;
    },
    countEvents: () => client.memoryEvent.count(),
    sweepOnce: (sweep) => sweepOnce(scene, sweep),
  };
  return scene;
}

async function sweepOnce(scene: Scene, sweep: SweepFunction): Promise<SweepReport> {
  const before = await scene.countEvents();
  const foreseen = await sweep(scene.context(), { dryRun: true });
  expect(await scene.countEvents()).toBe(before);
  const report = await sweep(scene.context(), { dryRun: false });
  expect(report).toEqual(foreseen);
  const after = await scene.countEvents();
  expect(Object.values(await sweep(scene.context(), { dryRun: false }))).toEqual(Object.values(report).map(() => 0));
  expect(await scene.countEvents()).toBe(after);
  expect(await findDifferences(scene.context())).toEqual([]);
  return report;
}

/** Past the core, as the owner of the tables. */
export async function execute({ core }: Scene, statement: string, values: unknown[] = []): Promise<void> {
  await core.db.asOwner((client) => client.query(statement, values));
}
