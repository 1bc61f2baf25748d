import {
  extendEpisodes,
  findExtensions,
  findPromotions,
  promoteFacts,
  type ExtensionQuery,
  type PromotionQuery,
} from '../db/queries/promotion.ts';
import { millisecondsPerDay, millisecondsPerHour } from '../shared/durations.ts';
import { decayRates, type Permanence } from '../memory/confidence.ts';
import type { MemoryContext } from '../memory/context.ts';
import { liveValidities } from '../memory/facts/fact-values.ts';
import { changeInTransaction, runStage, startSweep, type Stage, type SweepOptions, type SweepReport } from './sweep.ts';

/**
 * Raises facts that are referenced often by one permanence. Extends the life of episodes that are referenced often, so
 * that there is time to consolidate them.
 */
export async function sweepPromotions(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const total = options.progress === undefined ? null : await countLiveFacts(context);
  const sweep = startSweep(context, options, ['promoted', 'extended'], total);
  await runStage(sweep, promotionStage(context, sweep.origin.at));
  await runStage(sweep, extensionStage(context, sweep.origin.at));
  return sweep.report;
}

/** The sweep looks at all live facts, but only at the few episodes that are due. */
async function countLiveFacts({ db: { client } }: MemoryContext): Promise<number> {
  return client.fact.count({ where: { tenantId: client.tenantId, validity: { in: [...liveValidities] } } });
}

/** References never make a fact permanent: only people do. */
const ladder: readonly Permanence[] = ['ephemeral', 'volatile', 'standard', 'stable'];

const steps = ladder.flatMap((from, place) => {
  const to = ladder[place + 1];
  return to === undefined ? [] : [{ from, to, decayRate: decayRates[to] }];
});

function promotionStage(context: MemoryContext, at: Date): Stage {
  const { mid } = context.config.memory;
  const query: PromotionQuery = {
    steps,
    minReferences: mid.promoteAfterRefs,
    minSessions: mid.promoteAfterSessions,
    notAfter: new Date(at.getTime() - mid.promoteAfterDays * millisecondsPerDay),
  };
  return {
    type: 'fact',
    find: (after, limit) => findPromotions(context.db.client, query, after, limit),
    change: (batch) => changeInTransaction(context, (transaction) => promoteFacts(transaction, query, batch)),
  };
}

function extensionStage(context: MemoryContext, at: Date): Stage {
  const { eden, episodes } = context.config.memory;
  const query: ExtensionQuery = {
    at,
    minReferences: eden.promoteAfterRefs,
    notAfter: new Date(at.getTime() - eden.promoteAfterHours * millisecondsPerHour),
    seconds: (episodes.defaultTtlDays * millisecondsPerDay) / 1000,
  };
  return {
    type: 'episode',
    find: (after, limit) => findExtensions(context.db.client, query, after, limit),
    change: (batch) => changeInTransaction(context, (transaction) => extendEpisodes(transaction, query, batch)),
  };
}
