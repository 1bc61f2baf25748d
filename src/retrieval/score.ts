import type { Config } from '../config/schema.ts';

/** Each between 0 and 1. */
export interface ScoreParts {
  relevance: number;
  importance: number;
  recency: number;
  confidence: number;
}

/** The configuration refuses weights that do not sum to 1, so the score stays between 0 and 1. */
export function compositeScore(parts: ScoreParts, weights: Config['memory']['retrieval']['scoreWeights']): number {
  return (
    weights.relevance * parts.relevance +
    weights.importance * parts.importance +
    weights.recency * parts.recency +
    weights.confidence * parts.confidence
  );
}
