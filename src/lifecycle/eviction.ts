import { countSurplus, evictMemories, findSurplus, type DueEviction } from '../db/queries/eviction.ts';
import type { MemoryContext } from '../memory/context.ts';
import { capacityPerButler } from '../memory/generation.ts';
import { onlyButlerOf } from '../memory/reach.ts';
import { changeInTransaction, runStage, startSweep, type SweepOptions, type SweepReport } from './sweep.ts';

/**
 * Keeps each butler's facts and rules within the capacity of their generation: unimportant ones that nobody ever used
 * expire. Nothing is deleted, so that chains of supersession stay whole. Episodes are evicted by their cleanup.
 */
export async function sweepCapacity(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const sweep = startSweep(context, options, ['evicted']);
  const capacity = readCapacity(context);
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

/** Counts what will be evicted within seven days; null for nothing. */
export async function forecastEvictions(context: MemoryContext, butler: string | null): Promise<DueEviction[] | null> {
  const query = { at: context.now(), ...readCapacity(context) };
  const due = await countSurplus(context.db.client, query, onlyButlerOf(context) ?? butler);
  return due.length === 0 ? null : due;
}

function readCapacity({ config: { memory } }: MemoryContext): { mid: number; long: number } {
  return { mid: capacityPerButler('mid', memory), long: capacityPerButler('long', memory) };
}
