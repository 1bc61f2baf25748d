import { changeDecayed, findDecayed, findInversions, type DecayQuery } from '../db/queries/decay.ts';
import type { MemoryContext } from '../memory/context.ts';
import { liveValidities } from '../memory/facts/fact-values.ts';
import { invertRule } from '../memory/rules/rule-marks.ts';
import { changeInTransaction, runStage, startSweep, type Stage, type SweepOptions, type SweepReport } from './sweep.ts';

/**
 * Gives facts and rules the validity that their effective confidence leaves them: fading, expired, or active again where
 * thresholds or decay rates have changed. Inverts rules that have become too harmful for the present thresholds.
 */
export async function sweepDecay(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const total = options.progress === undefined ? null : await countLive(context);
  const sweep = startSweep(context, options, ['fading', 'expired', 'recovered', 'inverted'], total);
  await runStage(sweep, decayStage(context, 'fact', sweep.origin.at));
  await runStage(sweep, inversionStage(context));
  await runStage(sweep, decayStage(context, 'rule', sweep.origin.at));
  return sweep.report;
}

async function countLive({ db: { client } }: MemoryContext): Promise<number> {
  const where = { tenantId: client.tenantId, validity: { in: [...liveValidities] } };
  return (await client.fact.count({ where })) + (await client.rule.count({ where }));
}

function decayStage(context: MemoryContext, type: 'fact' | 'rule', at: Date): Stage {
  const { facts, rules } = context.config.memory;
  const query: DecayQuery = {
    type,
    at,
    retrieval: facts.retrievalConfidenceThreshold,
    expiry: facts.expiryConfidenceThreshold,
    inversion: rules.harmfulToAntipattern,
  };
  return {
    type,
    find: (after, limit) => findDecayed(context.db.client, query, after, limit),
    change: (batch) => changeInTransaction(context, (transaction) => changeDecayed(transaction, query, batch)),
  };
}

/** Inverts rules one by one, because the new text of each must be embedded; there are few. */
function inversionStage(context: MemoryContext): Stage {
  const { harmfulToAntipattern } = context.config.memory.rules;
  return {
    type: 'rule',
    find: (after, limit) => findInversions(context.db.client, harmfulToAntipattern, after, limit),
    change: async ({ ids: [id, ...others] }) => {
      if (id === undefined || others.length > 0) return [];
      return (await invertRule(context, id)) ? [{ id, eventType: 'rule.inverted' }] : [];
    },
  };
}
