import type { Config } from '../../config/schema.ts';
import type { MemoryType } from '../../db/tables.ts';
import { effectiveConfidence } from '../../memory/confidence.ts';
import type { Maturity } from '../../memory/rules/rule-maturity.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import { byScore, type CompositeParts, type DropStage, type Ranked } from './ranked.ts';

type Retrieval = Config['memory']['retrieval'];

/** Share of the best match below which recall drops a memory. */
export const relevanceFloor = 0.1;
/** Cosine similarity that recall demands of a memory which shares no word with the topic. */
export const minSimilarity = 0.15;

const maturityWeights: Record<Maturity, number> = { candidate: 0.8, established: 1, proven: 1.1, anti_pattern: 1 };

/**
 * Scores matches by relevance, importance, recency and confidence together. The sum needs floors: without them, an
 * important and fresh memory that has nothing to do with the topic outranks one that has.
 */
export function score(ranked: readonly Ranked[], at: Date, retrieval: Retrieval): Ranked[] {
  return ranked
    .map((one): Ranked => {
      const composite = measureParts(one.memory, one.relevance, at, retrieval);
      return {
        ...one,
        score: sumParts(composite, retrieval.scoreWeights),
        parts: { match: one.parts.match, composite },
        droppedBy: findFloor(one),
      };
    })
    .toSorted(byScore);
}

function findFloor({ relevance, parts: { match } }: Ranked): DropStage | null {
  if (relevance < relevanceFloor) return 'relevance_floor';
  const sharesWords = match !== null && match.keywordScore + match.lentScore > 0;
  return sharesWords || (match?.similarity ?? 0) >= minSimilarity ? null : 'min_similarity';
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
  return {
    relevance,
    importance: memory.importance / 10,
    recency: measureRecency(memory.lastReferencedAt ?? memory.createdAt, at, retrieval),
    confidence: measureConfidence(memory, at),
    maturityWeight: memory.type === 'rule' ? maturityWeights[memory.maturity as Maturity] : 1,
  };
}

/** The weights sum to 1, which the configuration checks. Never above 1, although a proven rule weighs more than 1. */
export function sumParts(parts: CompositeParts, weights: Retrieval['scoreWeights']): number {
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
