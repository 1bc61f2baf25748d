import type { Config } from '../../config/schema.ts';
import type { CandidateRow } from '../../db/sql/search-candidates.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import { effectiveConfidence } from '../../memory/confidence.ts';
import type { Maturity } from '../../memory/rules/rule-maturity.ts';

type Retrieval = Config['memory']['retrieval'];

/** Each between 0 and 1. */
export interface ScoreParts {
  relevance: number;
  importance: number;
  recency: number;
  confidence: number;
}

/** The configuration refuses weights that do not sum to 1, so the score stays between 0 and 1. */
export function compositeScore(parts: ScoreParts, weights: Retrieval['scoreWeights']): number {
  return (
    weights.relevance * parts.relevance +
    weights.importance * parts.importance +
    weights.recency * parts.recency +
    weights.confidence * parts.confidence
  );
}

export interface CompositeParts extends ScoreParts {
  /** What the sum is multiplied by: 1 for all but rules. */
  maturityWeight: number;
}

/** What a score is made from, apart from relevance. */
export type ScorableRow = Pick<
  CandidateRow,
  'type' | 'created_at' | 'referenced_at' | 'confirmed_at' | 'importance' | 'confidence' | 'decay_rate' | 'maturity'
>;

export function scorePartsOf(
  candidate: ScorableRow,
  relevance: number,
  now: Date,
  retrieval: Retrieval,
): CompositeParts {
  return {
    relevance,
    importance: candidate.importance / 10,
    recency: recency(candidate, now, retrieval.recencyHalfLifeDays),
    confidence: confidenceOf(candidate, now),
    maturityWeight: maturityWeight(candidate, retrieval.maturityWeights),
  };
}

/** Never above 1, although what is proven weighs more than 1. */
export function weightedScore(parts: CompositeParts, retrieval: Retrieval): number {
  return Math.min(1, compositeScore(parts, retrieval.scoreWeights) * parts.maturityWeight);
}

/** 1 for what was referenced, or else created, just now; one half after each half-life. */
export function recency(
  { referenced_at, created_at }: Pick<CandidateRow, 'referenced_at' | 'created_at'>,
  now: Date,
  halfLifeDays: number,
): number {
  const days = Math.max(0, (now.getTime() - (referenced_at ?? created_at)) / millisecondsPerDay);
  return 0.5 ** (days / halfLifeDays);
}

/** An episode has nothing that could fade: it happened. */
function confidenceOf(candidate: ScorableRow, now: Date): number {
  if (candidate.type === 'episode') return 1;
  return effectiveConfidence(
    {
      confidence: candidate.confidence,
      decayRate: candidate.decay_rate,
      createdAt: new Date(candidate.created_at),
      lastConfirmedAt: candidate.confirmed_at === null ? null : new Date(candidate.confirmed_at),
    },
    now,
  );
}

function maturityWeight({ maturity }: ScorableRow, weights: Retrieval['maturityWeights']): number {
  const byMaturity: Record<Maturity, number> = {
    candidate: weights.candidate,
    established: weights.established,
    proven: weights.proven,
    anti_pattern: weights.antiPattern,
  };
  return maturity === null ? 1 : byMaturity[maturity as Maturity];
}
