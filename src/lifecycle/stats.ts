import { episodeStats, factStats, ruleStats } from '../db/sql/memory-stats.ts';
import type { Permanence } from '../memory/confidence.ts';
import type { MemoryContext } from '../memory/context.ts';
import { isLive } from '../memory/facts/fact-values.ts';
import { generationOf, generations, type Generation } from '../memory/generation.ts';
import { isPermitted } from '../memory/permissions.ts';
import type { Maturity } from '../memory/rules/rule-maturity.ts';
import { normaliseName } from '../memory/text.ts';
import { readSchedules, type Schedule } from './schedules.ts';

export interface Count {
  name: string;
  count: number;
}

/** How many lie in each of ten equal steps from 0 to 1. */
export type Distribution = number[];

export interface MemoryStats {
  scope: string | null;
  at: Date;
  episodes: {
    total: number;
    byStatus: Count[];
    /** Waiting to be consolidated. */
    backlog: number;
    oldestPendingAt: Date | null;
    deadLetters: number;
  };
  facts: { total: number; byValidity: Count[]; byPermanence: Count[]; confidence: Distribution };
  rules: {
    total: number;
    disabled: number;
    byValidity: Count[];
    byMaturity: Count[];
    confidence: Distribution;
    /** Of those that were applied at least once. */
    effectiveness: Distribution;
  };
  byGeneration: Count[];
  /** Null when the queue could not be asked, and for the role butler. */
  jobs: Schedule[] | null;
  /** What could not be found out, and is null here and not zero. */
  unknown: string[];
}

interface EpisodeRow {
  status: string;
  count: number;
  oldest: Date;
}

interface FactRow {
  validity: string;
  permanence: Permanence;
  step: number;
  count: number;
}

interface RuleRow {
  validity: string;
  maturity: Maturity;
  disabled: boolean;
  confidence_step: number;
  effectiveness_step: number | null;
  count: number;
}

/** What there is and how it fares. Totals and distributions count what is live; `byValidity` counts the rest too. */
export async function readStats(
  context: MemoryContext,
  given: { scope?: string | null | undefined },
): Promise<MemoryStats> {
  const { tenantId } = context.principal;
  const scope = given.scope ? normaliseName('scope', given.scope) : null;
  const query = { tenantId, scope, now: context.now() };
  const client = context.db.client;
  const [episodes, facts, rules, jobs] = await Promise.all([
    client.$queryRaw<EpisodeRow[]>(episodeStats(query)),
    client.$queryRaw<FactRow[]>(factStats(query)),
    client.$queryRaw<RuleRow[]>(ruleStats(query)),
    readJobs(context),
  ]);
  const live = {
    facts: facts.filter(({ validity }) => isLive(validity)),
    rules: rules.filter(({ validity }) => isLive(validity)),
  };
  return {
    scope,
    at: query.now,
    episodes: describeEpisodes(episodes),
    facts: {
      total: sum(live.facts),
      byValidity: countBy(facts, ({ validity }) => validity),
      byPermanence: countBy(live.facts, ({ permanence }) => permanence),
      confidence: distribute(live.facts, ({ step }) => step),
    },
    rules: {
      total: sum(live.rules),
      disabled: sum(live.rules.filter(({ disabled }) => disabled)),
      byValidity: countBy(rules, ({ validity }) => validity),
      byMaturity: countBy(live.rules, ({ maturity }) => maturity),
      confidence: distribute(live.rules, ({ confidence_step: step }) => step),
      effectiveness: distribute(live.rules, ({ effectiveness_step: step }) => step),
    },
    byGeneration: countGenerations(episodes, live),
    jobs,
    unknown: jobs === null && isPermitted(context, 'field Stats.jobs') ? ['jobs'] : [],
  };
}

/** A queue that is not there yet, or not reachable, must not take the rest with it. */
async function readJobs(context: MemoryContext): Promise<Schedule[] | null> {
  if (!isPermitted(context, 'field Stats.jobs')) return null;
  try {
    return await readSchedules({ ...context, db: context.db.database }, context.db.tenantId);
  } catch (error) {
    context.logger.warn({ err: error }, 'the job queue could not be asked for its last runs');
    return null;
  }
}

function describeEpisodes(rows: EpisodeRow[]): MemoryStats['episodes'] {
  const pending = rows.find(({ status }) => status === 'pending');
  return {
    total: sum(rows),
    byStatus: countBy(rows, ({ status }) => status),
    backlog: pending?.count ?? 0,
    oldestPendingAt: pending?.oldest ?? null,
    deadLetters: rows.find(({ status }) => status === 'dead_letter')?.count ?? 0,
  };
}

function countGenerations(episodes: EpisodeRow[], live: { facts: FactRow[]; rules: RuleRow[] }): Count[] {
  const counts: Record<Generation, number> = { eden: sum(episodes), mid: 0, long: 0 };
  for (const { permanence, count } of live.facts) counts[generationOf({ type: 'fact', permanence })] += count;
  for (const { maturity, count } of live.rules) counts[generationOf({ type: 'rule', maturity })] += count;
  return generations.map((name) => ({ name, count: counts[name] }));
}

function sum(rows: readonly { count: number }[]): number {
  return rows.reduce((total, { count }) => total + count, 0);
}

function countBy<Row extends { count: number }>(rows: readonly Row[], nameOf: (row: Row) => string): Count[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + row.count);
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function distribute<Row extends { count: number }>(
  rows: readonly Row[],
  stepOf: (row: Row) => number | null,
): Distribution {
  const steps = Array.from({ length: 10 }, () => 0);
  for (const row of rows) {
    const step = stepOf(row);
    if (step !== null) steps[step] = (steps[step] ?? 0) + row.count;
  }
  return steps;
}
