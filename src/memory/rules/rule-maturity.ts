import type { Config } from '../../config/schema.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';

export const maturities = ['candidate', 'established', 'proven', 'anti_pattern'] as const;
export type Maturity = (typeof maturities)[number];

export interface RuleRecord {
  successCount: number;
  harmfulCount: number;
  createdAt: Date;
}

/** Bad advice costs four times what good advice earns; the small term keeps an unused rule at 0 and not at 0/0. */
export function effectiveness({
  successCount,
  harmfulCount,
}: Pick<RuleRecord, 'successCount' | 'harmfulCount'>): number {
  return successCount / (successCount + 4 * harmfulCount + 0.01);
}

/** The maturity that a rule's record has earned. An anti-pattern is a verdict of its own: see `isAntiPattern`. */
export function earnedMaturity(
  rule: RuleRecord,
  now: Date,
  thresholds: Config['memory']['rules'],
): Exclude<Maturity, 'anti_pattern'> {
  const { promoteToEstablished: established, promoteToProven: proven } = thresholds;
  const ageDays = (now.getTime() - rule.createdAt.getTime()) / millisecondsPerDay;
  if (reaches(rule, proven) && ageDays >= proven.minAgeDays) return 'proven';
  return reaches(rule, established) ? 'established' : 'candidate';
}

function reaches(rule: RuleRecord, threshold: { minSuccesses: number; minEffectiveness: number }): boolean {
  return rule.successCount >= threshold.minSuccesses && effectiveness(rule) >= threshold.minEffectiveness;
}

/** Harm often enough, with too little good to outweigh it, turns a rule into a warning against itself. */
export function isAntiPattern(rule: RuleRecord, { harmfulToAntipattern }: Config['memory']['rules']): boolean {
  return (
    rule.harmfulCount >= harmfulToAntipattern.minHarmful && effectiveness(rule) < harmfulToAntipattern.maxEffectiveness
  );
}
