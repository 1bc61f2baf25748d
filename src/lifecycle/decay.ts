import { decayChange, findDecayed, type DecayQuery } from '../db/sql/decayed.ts';
import { findInversions } from '../db/sql/inversions.ts';
import type { MemoryContext } from '../memory/context.ts';
import { liveValidities } from '../memory/facts/fact-values.ts';
import { invertRule } from '../memory/rules/rule-marks.ts';
import { changeByStatement, originOf, runStage, startSweep, type Stage } from './batches.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/**
 * Gives facts and rules the validity that is left to them: fading, expired, or active again where the thresholds or the
 * decay rate have changed. Rules whose harm has become too much for the thresholds of today are inverted.
 */
export async function sweepDecay(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const at = context.now();
  const total = options.progress === undefined ? null : await countLive(context);
  const sweep = startSweep(context, options, ['fading', 'expired', 'recovered', 'inverted'], total);
  await runStage(sweep, decayStage(context, 'fact', at));
  await runStage(sweep, inversionStage(context));
  await runStage(sweep, decayStage(context, 'rule', at));
  return sweep.report;
}

async function countLive({ db, principal: { tenantId } }: MemoryContext): Promise<number> {
  const where = { tenantId, validity: { in: [...liveValidities] } };
  const { fact, rule } = db.client;
  return (await fact.count({ where })) + (await rule.count({ where }));
}

function decayStage(context: MemoryContext, type: 'fact' | 'rule', at: Date): Stage {
  const { facts, rules } = context.config.memory;
  const origin = originOf(context, at);
  const query: DecayQuery = {
    type,
    at,
    tenantId: origin.tenantId,
    retrieval: facts.retrievalConfidenceThreshold,
    expiry: facts.expiryConfidenceThreshold,
    inversion: rules.harmfulToAntipattern,
  };
  return {
    type,
    find: (after, limit) => findDecayed(query, after, limit),
    change: (ids, wait) => changeByStatement(context, { type, ids, origin, wait, ...decayChange(query) }),
  };
}

/** Each by itself, since its warning must be embedded; there are few. */
function inversionStage(context: MemoryContext): Stage {
  const { harmfulToAntipattern } = context.config.memory.rules;
  return {
    type: 'rule',
    find: (after, limit) => findInversions(context.principal.tenantId, harmfulToAntipattern, after, limit),
    change: async ([id, ...others]) => {
      if (id === undefined || others.length > 0) return [];
      return (await invertRule(context, id)) ? [{ id, eventType: 'rule.inverted' }] : [];
    },
  };
}
