import { deleteEpisodes, findExpiredEpisodes, findSurplusEpisodes } from '../db/queries/old-episodes.ts';
import { deleteOldMemories, findOldMemories } from '../db/queries/old-memories.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import type { MemoryContext } from '../memory/context.ts';
import { capacityPerButler, episodeCapacityPerTenant } from '../memory/generation.ts';
import { keptSince, retentionOf } from '../memory/episodes/retention.ts';
import { changeInTransaction, runStage, startSweep, type Sweep, type SweepOptions, type SweepReport } from './sweep.ts';

/**
 * Deletes episodes past their retention, and consolidated ones beyond capacity; then facts and rules that are no longer
 * live and were kept long enough. Each leaves a tombstone, so that no citation dangles.
 */
export async function sweepEpisodes(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const { memory } = context.config;
  const { client } = context.db;
  const sweep = startSweep(context, options, ['expired', 'evicted', 'removed']);
  const { at } = sweep.origin;
  const query = {
    at,
    graceEnd: new Date(at.getTime() - memory.episodes.pendingGraceDays * millisecondsPerDay),
    keptSince: keptSince(at, retentionOf(context).episodes),
    perButler: capacityPerButler('eden', memory),
    perTenant: episodeCapacityPerTenant(memory),
  };
  for (const [reason, find] of [
    ['expired', findExpiredEpisodes],
    ['capacity', findSurplusEpisodes],
  ] as const) {
    await runStage(sweep, {
      type: 'episode',
      find: (after, limit) => find(client, query, after, limit),
      change: (batch) =>
        changeInTransaction(context, (transaction) => deleteEpisodes(transaction, query, { ...batch, reason })),
    });
  }
  await removeOld(sweep, 'fact');
  await removeOld(sweep, 'rule');
  return sweep.report;
}

async function removeOld(sweep: Sweep, type: 'fact' | 'rule'): Promise<void> {
  const { context, origin } = sweep;
  const until = keptSince(origin.at, retentionOf(context)[`${type}s`]);
  if (until === null) return;
  const query = { type, until };
  await runStage(sweep, {
    type,
    find: (after, limit) => findOldMemories(context.db.client, query, after, limit),
    change: (batch) => changeInTransaction(context, (transaction) => deleteOldMemories(transaction, query, batch)),
  });
}
