import { extensionChange, findExtensions, type ExtensionQuery } from '../db/sql/extensions.ts';
import { findPromotions, promotionChange, type PromotionQuery } from '../db/sql/promotions.ts';
import { millisecondsPerDay, millisecondsPerHour } from '../shared/durations.ts';
import { decayRates, type Permanence } from '../memory/confidence.ts';
import type { MemoryContext } from '../memory/context.ts';
import { liveValidities } from '../memory/facts/fact-values.ts';
import { changeByStatement, originOf, runStage, startSweep, type Stage } from './batches.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/**
 * Lifts facts that are often asked for by one class of permanence. Episodes that are often asked for are kept for one more
 * span of life: what lifts them out of eden is consolidation, and this gives it the time.
 */
export async function sweepPromotions(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const at = context.now();
  const total = options.progress === undefined ? null : await countLiveFacts(context);
  const sweep = startSweep(context, options, ['promoted', 'extended'], total);
  await runStage(sweep, promotionStage(context, at));
  await runStage(sweep, extensionStage(context, at));
  return sweep.report;
}

/** All of them are looked at; of episodes only those that are due, which are few. */
async function countLiveFacts({ db, principal: { tenantId } }: MemoryContext): Promise<number> {
  return db.client.fact.count({ where: { tenantId, validity: { in: [...liveValidities] } } });
}

/** Nothing becomes permanent by being asked for: that is for people to say. */
const ladder: readonly Permanence[] = ['ephemeral', 'volatile', 'standard', 'stable'];

const steps = ladder.flatMap((from, place) => {
  const to = ladder[place + 1];
  return to === undefined ? [] : [{ from, to, decayRate: decayRates[to] }];
});

function promotionStage(context: MemoryContext, at: Date): Stage {
  const { mid } = context.config.memory;
  const origin = originOf(context, at);
  const query: PromotionQuery = {
    steps,
    tenantId: origin.tenantId,
    minReferences: mid.promoteAfterRefs,
    minSessions: mid.promoteAfterSessions,
    notAfter: new Date(at.getTime() - mid.promoteAfterDays * millisecondsPerDay),
  };
  return {
    type: 'fact',
    find: (after, limit) => findPromotions(query, after, limit),
    change: (ids, wait) => changeByStatement(context, { type: 'fact', ids, origin, wait, ...promotionChange(query) }),
  };
}

function extensionStage(context: MemoryContext, at: Date): Stage {
  const { eden, episodes } = context.config.memory;
  const origin = originOf(context, at);
  const query: ExtensionQuery = {
    at,
    tenantId: origin.tenantId,
    minReferences: eden.promoteAfterRefs,
    notAfter: new Date(at.getTime() - eden.promoteAfterHours * millisecondsPerHour),
    seconds: (episodes.defaultTtlDays * millisecondsPerDay) / 1000,
  };
  return {
    type: 'episode',
    find: (after, limit) => findExtensions(query, after, limit),
    change: (ids, wait) =>
      changeByStatement(context, { type: 'episode', ids, origin, wait, ...extensionChange(query) }),
  };
}
