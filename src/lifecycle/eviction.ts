import { evictMemories, findSurplus } from '../db/queries/eviction.ts';
import type { MemoryContext } from '../memory/context.ts';
import { capacityPerButler } from '../memory/generation.ts';
import { changeInTransaction, runStage, startSweep, type SweepOptions, type SweepReport } from './sweep.ts';

/**
 * Keeps each butler's facts and rules within the capacity of their generation: the least recently used expire. Nothing is
 * deleted, so that chains of supersession stay whole. Episodes are evicted by their cleanup.
 */
export async function sweepCapacity(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const { memory } = context.config;
  const sweep = startSweep(context, options, ['evicted']);
  const capacity = { mid: capacityPerButler('mid', memory), long: capacityPerButler('long', memory) };
  for (const type of ['fact', 'rule'] as const) {
    const query = { type, at: sweep.origin.at, ...capacity };
    await runStage(sweep, {
      type,
      find: (after, limit) => findSurplus(context.db.client, query, after, limit),
      change: (batch) => changeInTransaction(context, (transaction) => evictMemories(transaction, query, batch)),
    });
  }
  return sweep.report;
}
