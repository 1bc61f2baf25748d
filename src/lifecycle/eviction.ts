import { evictionChange, findSurplus } from '../db/sql/surplus-memories.ts';
import type { MemoryContext } from '../memory/context.ts';
import { capacityPerButler } from '../memory/generation.ts';
import { changeByStatement, originOf, runStage, startSweep, type Stage } from './batches.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/**
 * Keeps each butler's facts and rules within the capacity of their generation: those that were not asked for the longest
 * expire. Nothing is deleted, so that chains of supersession stay whole. Episodes are the business of their cleanup.
 */
export async function sweepCapacity(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const at = context.now();
  const sweep = startSweep(context, options, ['evicted']);
  await runStage(sweep, evictionStage(context, 'fact', at));
  await runStage(sweep, evictionStage(context, 'rule', at));
  return sweep.report;
}

function evictionStage(context: MemoryContext, type: 'fact' | 'rule', at: Date): Stage {
  const { memory } = context.config;
  const origin = originOf(context, at);
  const [mid, long] = [capacityPerButler('mid', memory), capacityPerButler('long', memory)];
  const query = { type, at, mid, long, tenantId: origin.tenantId };
  return {
    type,
    find: (after, limit) => findSurplus(query, after, limit),
    change: (ids, wait) => changeByStatement(context, { type, ids, origin, wait, ...evictionChange(query) }),
  };
}
