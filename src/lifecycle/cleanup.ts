import { buryEpisodes, type Burial } from '../db/sql/bury-episodes.ts';
import type { ChangedMemory } from '../db/sql/change-memories.ts';
import { deleteEpisodes } from '../db/sql/delete-episodes.ts';
import { findPastEpisodes, isPast } from '../db/sql/past-episodes.ts';
import { findSurplusEpisodes, isRemovable } from '../db/sql/surplus-episodes.ts';
import { millisecondsPerDay } from '../durations.ts';
import type { MemoryContext } from '../memory/context.ts';
import { capacityPerButler, episodeCapacityPerTenant } from '../memory/generation.ts';
import { changeInTransaction, originOf, runStage, startSweep } from './batches.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/**
 * Deletes episodes that are past their time, and consolidated ones beyond what there is room for. Each leaves its
 * tombstone, so that what cites it still finds something.
 */
export async function sweepEpisodes(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const { memory } = context.config;
  const origin = originOf(context, context.now());
  const query = {
    tenantId: origin.tenantId,
    at: origin.at,
    graceEnd: new Date(origin.at.getTime() - memory.episodes.pendingGraceDays * millisecondsPerDay),
    perButler: capacityPerButler('eden', memory),
    perTenant: episodeCapacityPerTenant(memory),
  };
  const sweep = startSweep(context, options, ['expired', 'evicted']);
  await runStage(sweep, {
    type: 'episode',
    find: (after, limit) => findPastEpisodes(query, after, limit),
    change: (ids, wait) => remove(context, { ids, wait, origin, due: isPast(query), reason: 'expired' }),
  });
  await runStage(sweep, {
    type: 'episode',
    find: (after, limit) => findSurplusEpisodes(query, after, limit),
    change: (ids, wait) => remove(context, { ids, wait, origin, due: isRemovable(query), reason: 'capacity' }),
  });
  return sweep.report;
}

async function remove(context: MemoryContext, burial: Burial): Promise<ChangedMemory[]> {
  return changeInTransaction(context, async (transaction) => {
    const buried = await transaction.$queryRaw<ChangedMemory[]>(buryEpisodes(burial));
    const ids = buried.map(({ id }) => id);
    await transaction.$executeRaw(deleteEpisodes(burial.origin.tenantId, ids));
    return buried;
  });
}
