import { millisecondsPerDay } from '../shared/durations.ts';

export const permanences = ['permanent', 'stable', 'standard', 'volatile', 'ephemeral'] as const;
export type Permanence = (typeof permanences)[number];

/** Per day. Half-lives: never, about 346, 87, 23 and 7 days. */
export const decayRates: Readonly<Record<Permanence, number>> = {
  permanent: 0,
  stable: 0.002,
  standard: 0.008,
  volatile: 0.03,
  ephemeral: 0.1,
};

export interface Decaying {
  confidence: number;
  decayRate: number;
  createdAt: Date;
  lastConfirmedAt: Date | null;
}

/**
 * The one place that knows how confidence decays. What was never confirmed decays from its creation; a confirmation
 * in the future (another machine's clock) counts as now.
 */
export function effectiveConfidence(memory: Decaying, now: Date): number {
  const anchor = memory.lastConfirmedAt ?? memory.createdAt;
  const days = Math.max(0, (now.getTime() - anchor.getTime()) / millisecondsPerDay);
  return memory.confidence * Math.exp(-memory.decayRate * days);
}
