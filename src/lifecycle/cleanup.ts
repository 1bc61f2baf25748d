import { buryEpisodes, type Burial } from '../db/sql/bury-episodes.ts';
import type { ChangedMemory } from '../db/sql/change-memories.ts';
import { deleteEpisodes } from '../db/sql/delete-episodes.ts';
import type { EventOrigin } from '../db/sql/event-rows.ts';
import {
  buryMemories,
  deleteMemories,
  findOldMemories,
  lockMemories,
  selectWithChains,
  type OldMemoriesQuery,
} from '../db/sql/old-memories.ts';
import { findPastEpisodes, isPast } from '../db/sql/past-episodes.ts';
import { findSurplusEpisodes, isRemovable } from '../db/sql/surplus-episodes.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import type { MemoryContext } from '../memory/context.ts';
import { capacityPerButler, episodeCapacityPerTenant } from '../memory/generation.ts';
import { keptSince, retentionOf } from '../memory/episodes/retention.ts';
import { changeInTransaction, originOf, runStage, startSweep, type Sweep } from './batches.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/**
 * Deletes episodes that are past their time, and consolidated ones beyond what there is room for; then facts and rules that
 * do not count any more and were kept long enough. Each leaves its tombstone, so that what cites it still finds something.
 */
export async function sweepEpisodes(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const { memory } = context.config;
  const origin = originOf(context, context.now());
  const query = {
    tenantId: origin.tenantId,
    at: origin.at,
    graceEnd: new Date(origin.at.getTime() - memory.episodes.pendingGraceDays * millisecondsPerDay),
    keptSince: keptSince(origin.at, retentionOf(context).episodes),
    perButler: capacityPerButler('eden', memory),
    perTenant: episodeCapacityPerTenant(memory),
  };
  const sweep = startSweep(context, options, ['expired', 'evicted', 'removed']);
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
  await removeOld(sweep, 'fact', origin);
  await removeOld(sweep, 'rule', origin);
  return sweep.report;
}

async function removeOld(sweep: Sweep, type: 'fact' | 'rule', origin: EventOrigin): Promise<void> {
  const { context } = sweep;
  const until = keptSince(origin.at, retentionOf(context)[`${type}s`]);
  if (until === null) return;
  const query = { type, until, tenantId: origin.tenantId };
  await runStage(sweep, {
    type,
    find: (after, limit) => findOldMemories(query, after, limit),
    change: (ids, wait) => removeMemories(context, query, { ids, wait, origin }),
  });
}

/** Looked at again once they are locked: who restores one of them, or stores what supersedes it, wins. */
async function removeMemories(
  context: MemoryContext,
  query: OldMemoriesQuery,
  { ids, wait, origin }: Pick<Burial, 'ids' | 'wait' | 'origin'>,
): Promise<ChangedMemory[]> {
  return changeInTransaction(context, async (transaction) => {
    const due = await transaction.$queryRaw<{ id: string }[]>(selectWithChains(query, ids));
    const locking = lockMemories(query, idsOf(due), wait);
    const locked = await transaction.$queryRaw<{ id: string }[]>(locking);
    const buried = await transaction.$queryRaw<ChangedMemory[]>(buryMemories(query, origin, idsOf(locked)));
    for (const statement of deleteMemories(query, idsOf(buried))) await transaction.$executeRaw(statement);
    return buried;
  });
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

async function remove(context: MemoryContext, burial: Burial): Promise<ChangedMemory[]> {
  return changeInTransaction(context, async (transaction) => {
    const buried = await transaction.$queryRaw<ChangedMemory[]>(buryEpisodes(burial));
    const ids = buried.map(({ id }) => id);
    await transaction.$executeRaw(deleteEpisodes(burial.origin.tenantId, ids));
    return buried;
  });
}
