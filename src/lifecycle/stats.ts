import {
  countEpisodes,
  countFacts,
  countRules,
  type EpisodeCount,
  type FactCount,
  type RuleCount,
} from '../db/queries/stats.ts';
import type { DueEviction } from '../db/queries/eviction.ts';
import type { Permanence } from '../memory/confidence.ts';
import type { MemoryContext } from '../memory/context.ts';
import { isLive } from '../memory/facts/fact-values.ts';
import { generationOf, generations, type Generation } from '../memory/generation.ts';
import { isPermitted } from '../memory/permissions.ts';
import type { Maturity } from '../memory/rules/rule-maturity.ts';
import { normaliseName } from '../memory/text.ts';
import { forecastEvictions } from './eviction.ts';
import { readSchedules, type Schedule } from './schedules.ts';

export interface Count {
  name: string;
  count: number;
}

/** How many values are in each tenth of the range from 0 to 1. */
export type Distribution = number[];

export interface MemoryStats {
  scope: string | null;
  at: Date;
  episodes: {
    total: number;
    byStatus: Count[];
    /** Pending episodes. */
    backlog: number;
    oldestPendingAt: Date | null;
    deadLetters: number;
    /** Consolidated episodes of which nothing was kept. */
    nothingFound: number;
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
  /** What capacity will evict within seven days; null for nothing. */
  dueEvictions: DueEviction[] | null;
  /** Null when the queue could not be read, and for the role butler. */
  jobs: Schedule[] | null;
  /** Names of the fields that are null because they could not be read. */
  unknown: string[];
}

/** Counts memories by state. Totals and distributions count live memories only; `byValidity` counts all. */
export async function readStats(
  context: MemoryContext,
  given: { scope?: string | null | undefined },
): Promise<MemoryStats> {
  const { client } = context.db;
  const scope = given.scope ? normaliseName('scope', given.scope) : null;
  const query = { scope, now: context.now() };
  const [episodes, facts, rules, dueEvictions, jobs] = await Promise.all([
    countEpisodes(client, query),
    countFacts(client, query),
    countRules(client, query),
    forecastEvictions(context, scope),
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
      confidence: distribute(live.rules, ({ confidenceStep }) => confidenceStep),
      effectiveness: distribute(live.rules, ({ effectivenessStep }) => effectivenessStep),
    },
    byGeneration: countGenerations(episodes, live),
    dueEvictions,
    jobs,
    unknown: jobs === null && isPermitted(context, 'field Stats.jobs') ? ['jobs'] : [],
  };
}

/** Returns null when the queue cannot be read, so that the other figures are still there. */
async function readJobs(context: MemoryContext): Promise<Schedule[] | null> {
  if (!isPermitted(context, 'field Stats.jobs')) return null;
  try {
    return await readSchedules({ ...context, db: context.db.database }, context.db.tenantId);
  } catch (error) {
    context.logger.warn({ err: error }, 'the last runs could not be read from the job queue');
    return null;
  }
}

function describeEpisodes(rows: EpisodeCount[]): MemoryStats['episodes'] {
  const pending = rows.find(({ status }) => status === 'pending');
  return {
    total: sum(rows),
    byStatus: countBy(rows, ({ status }) => status),
    backlog: pending?.count ?? 0,
    oldestPendingAt: pending?.oldest ?? null,
    deadLetters: rows.find(({ status }) => status === 'dead_letter')?.count ?? 0,
    nothingFound: rows.find(({ status }) => status === 'consolidated')?.nothingFound ?? 0,
  };
}

function countGenerations(episodes: EpisodeCount[], live: { facts: FactCount[]; rules: RuleCount[] }): Count[] {
  const counts: Record<Generation, number> = { eden: sum(episodes), mid: 0, long: 0 };
  for (const { permanence, count } of live.facts)
    counts[generationOf({ type: 'fact', permanence: permanence as Permanence })] += count;
  for (const { maturity, count } of live.rules)
    counts[generationOf({ type: 'rule', maturity: maturity as Maturity })] += count;
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
