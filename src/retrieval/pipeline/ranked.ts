import type { Candidate } from '../../db/queries/candidate.ts';
import type { MemoryReference } from '../../memory/links/links.ts';

/**
 * A memory on its way through the pipeline. Each stage takes a list of these, best first, and returns one. `M` is what is
 * known of the memory: the columns that ranking needs, later its row, and in a receipt no more than type and id.
 */
export interface Ranked<M extends MemoryReference = Candidate> {
  memory: M;
  /** What it is ordered by, set by the last stage that scored it. */
  score: number;
  /**
   * How well it matches, 0 to 1. In a search a share of the best match; in a recall or context the probability that it
   * answers the question, which compares between queries.
   */
  relevance: number;
  parts: Parts;
  /** The first stage that dropped it; null while it is in the answer. */
  droppedBy: DropStage | null;
  /** Why that stage dropped it, where the stage alone does not say. */
  reason: string | null;
}

/** What each stage found out about a memory. */
export interface Parts {
  /** Null for a memory that is in a context without having been searched for. */
  match: MatchParts | null;
  /** Null where the score is the match alone. */
  composite: CompositeParts | null;
}

/** How well a memory matches. */
export interface MatchParts {
  /** Cosine similarity to the query; null where the semantic channel was not asked or has no vector. */
  similarity: number | null;
  /** The same with the whole question, names included; null where `similarity` is that already. */
  wholeSimilarity: number | null;
  /** 1 is the most similar; null for what is not among the candidates of the semantic channel. */
  semanticRank: number | null;
  /** BM25 of its own words. */
  keywordScore: number;
  /** What the words of neighbouring episodes of its session add to it. */
  lentScore: number;
  /** By both of them together, 1 is the best; null without either. */
  keywordRank: number | null;
  /** What the question that it replies to lends of its similarity; null where it replies to none that was found. */
  lentSimilarity: number | null;
  /** The best similarity in its session, at least its own; null for what is no episode or has no vector. */
  sessionSimilarity: number | null;
  /** Whether it is an episode that ends with a question. */
  asks: boolean;
  /** Stage 1: the reciprocal ranks of both channels; null in the modes of a single channel. */
  fusionScore: number | null;
  /** Stage 2: what the features or the cross-encoder say of it; null where they did not read it. */
  rerankScore: number | null;
  /** Share of the question's words, weighed by rarity, that it or the gloss of its predicate has; null in a search. */
  coverage: number | null;
  /** What it loses for being about somebody else; null in a search. */
  subjectPenalty: number | null;
  /** How well it has each word of the question, by meaning; null where it was not compared word by word. */
  tokenSimilarity: number | null;
  /** All of these together: what its relevance is measured on. Null in a search. */
  matchScore: number | null;
}

/** What the score of a recall is made of; each from 0 to 1. */
export interface CompositeParts {
  relevance: number;
  importance: number;
  recency: number;
  confidence: number;
  /** What the weighted sum is multiplied by: 1 for all but rules. */
  maturityWeight: number;
  /** The weighted sum of the four: what decides between memories that match nearly as well. */
  baseline: number;
}

/** The stages that drop a memory: the filter, the pipeline, and the token budget of a context. */
export type DropStage =
  | 'not_found'
  | FilterStage
  | 'no_match'
  | 'relevance_floor'
  | 'min_similarity'
  | 'duplicate'
  | 'outdated'
  | 'cluster'
  | 'limit'
  | 'too_long'
  | 'quota'
  | 'budget';
export type FilterStage =
  | 'scope'
  | 'type'
  | 'forgotten'
  | 'expired'
  | 'disabled'
  | 'validity'
  | 'confidence'
  | 'filter';

/** Scores each memory anew, measures relevance by the best score, and sorts best first. */
export function rescore(ranked: readonly Ranked[], score: (one: Ranked) => number): Ranked[] {
  const rescored = ranked.map((one) => ({ ...one, score: roundScore(score(one)) }));
  const best = rescored.reduce((most, one) => Math.max(most, one.score), 0);
  for (const one of rescored) one.relevance = best === 0 ? 0 : Math.max(0, one.score / best);
  return rescored.toSorted(byScore);
}

export function withRerankScore(one: Ranked, rerankScore: number | null): Ranked {
  const { match, composite } = one.parts;
  return { ...one, parts: { composite, match: match && { ...match, rerankScore } } };
}

/** Databases add up in different orders and differ in the last digits: no order may depend on those. */
export function roundScore(score: number): number {
  return Math.round(score * 1e12) / 1e12;
}

/** The order of every result. It is total, so that the same question has the same answer each time. */
export function byScore(a: Pick<Ranked, 'score' | 'memory'>, b: Pick<Ranked, 'score' | 'memory'>): number {
  return b.score - a.score || newestFirst(a.memory, b.memory);
}

interface Dated {
  createdAt: Date;
  id: string;
}

export function newestFirst(a: Dated, b: Dated): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

export function drop<M extends MemoryReference>(one: Ranked<M>, stage: DropStage, reason?: string): Ranked<M> {
  return { ...one, droppedBy: stage, reason: reason ?? null };
}

export function isKept({ droppedBy }: Pick<Ranked, 'droppedBy'>): boolean {
  return droppedBy === null;
}
