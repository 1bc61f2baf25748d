import type { Config } from '../../config/schema.ts';
import type { MemoryType } from '../../db/tables.ts';
import { effectiveConfidence } from '../../memory/confidence.ts';
import type { Maturity } from '../../memory/rules/rule-maturity.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import { shiftProbability } from './judge.ts';
import { byScore, roundScore, type CompositeParts, type Ranked } from './ranked.ts';

type Retrieval = Config['memory']['retrieval'];

/** Relevance below which recall and context leave a memory out. */
export const relevanceFloor = 0.2;
/** What the baseline composite may add to the score of a match: it decides between near equals, and no more. */
const baselineWeight = 0.05;

const maturityWeights: Record<Maturity, number> = { candidate: 0.8, established: 1, proven: 1.1, anti_pattern: 1 };

/**
 * Orders what was judged. The score is the relevance, shifted a little by the baseline composite of relevance, importance,
 * recency and confidence: as a plain sum, an important and fresh memory that has nothing to do with the topic would outrank
 * one that has. Drops what is below the floor.
 */
export function score(
  ranked: readonly Ranked[],
  at: Date,
  retrieval: Retrieval,
  floor: number = relevanceFloor,
): Ranked[] {
  return ranked
    .map((one): Ranked => {
      const composite = measureParts(one.memory, one.relevance, at, retrieval);
      return {
        ...one,
        score: scoreJudged(one.relevance, composite.baseline),
        parts: { match: one.parts.match, composite },
        droppedBy: one.relevance < floor ? 'relevance_floor' : null,
      };
    })
    .toSorted(byScore);
}

/** Whether a memory was judged to be about the question. */
export function isRelevant({ relevance, parts }: Pick<Ranked, 'relevance' | 'parts'>): boolean {
  return parts.match !== null && relevance >= relevanceFloor;
}

/** One half of the composite leaves the relevance as it is. */
export function scoreJudged(relevance: number, baseline: number): number {
  return roundScore(shiftProbability(relevance, baselineWeight * (baseline - 0.5)));
}

/** What the score is measured on, apart from relevance. */
export interface Scorable {
  type: MemoryType;
  createdAt: Date;
  lastReferencedAt: Date | null;
  importance: number;
  /** Of an episode it is not read. */
  confidence?: number | null;
  decayRate?: number | null;
  lastConfirmedAt?: Date | null;
  /** Of rules only. */
  maturity?: string | null;
}

export function measureParts(memory: Scorable, relevance: number, at: Date, retrieval: Retrieval): CompositeParts {
  const parts = {
    relevance,
    importance: memory.importance / 10,
    recency: measureRecency(memory.lastReferencedAt ?? memory.createdAt, at, retrieval),
    confidence: measureConfidence(memory, at),
    maturityWeight: memory.type === 'rule' ? maturityWeights[memory.maturity as Maturity] : 1,
  };
  return { ...parts, baseline: sumParts(parts, retrieval.scoreWeights) };
}

/** The weights sum to 1, which the configuration checks. Never above 1, although a proven rule weighs more than 1. */
export function sumParts(parts: Omit<CompositeParts, 'baseline'>, weights: Retrieval['scoreWeights']): number {
  const sum =
    weights.relevance * parts.relevance +
    weights.importance * parts.importance +
    weights.recency * parts.recency +
    weights.confidence * parts.confidence;
  return Math.min(1, sum * parts.maturityWeight);
}

/** 1 for this moment; one half after each half-life. */
export function measureRecency(moment: Date, at: Date, { recencyHalfLifeDays }: Retrieval): number {
  const days = Math.max(0, (at.getTime() - moment.getTime()) / millisecondsPerDay);
  return 0.5 ** (days / recencyHalfLifeDays);
}

/** An episode happened: its confidence is 1 and does not decay. */
function measureConfidence({ type, confidence, decayRate, createdAt, lastConfirmedAt }: Scorable, at: Date): number {
  if (type === 'episode') return 1;
  return effectiveConfidence(
    { confidence: confidence ?? 1, decayRate: decayRate ?? 0, createdAt, lastConfirmedAt: lastConfirmedAt ?? null },
    at,
  );
}
