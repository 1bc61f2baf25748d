import type { Config } from '../../config/schema.ts';
import type { MemoryType } from '../../db/tables.ts';
import type { CandidateRow } from '../../db/sql/search-candidates.ts';
import { createConversationWeight, readConversation, type ConversationParts } from './conversation.ts';
import type { SearchMode } from '../query/defaults.ts';

/** How well a memory matches, by channel. */
export interface MatchParts extends ConversationParts {
  /** Cosine similarity to the query; null where the semantic channel was not asked or has no vector. */
  similarity: number | null;
  /** 1 is the most similar; null for what is not among the candidates of the semantic channel. */
  semanticRank: number | null;
  /** BM25 of its own words. */
  keywordScore: number;
  /** What the words of neighbouring episodes of its session add to it. */
  lentScore: number;
  /** By both of them together, 1 is the best; null without either. */
  keywordRank: number | null;
  /** What a cross-encoder says of it, 0 to 1; null where none read it. */
  rerankScore: number | null;
}

export interface Match {
  candidate: CandidateRow;
  /** Of the mode: cosine similarity, BM25, or what the fusion made of both. */
  score: number;
  /** The score as a share of the best one: 0 to 1. */
  relevance: number;
  parts: MatchParts;
}

type Retrieval = Pick<
  Config['memory']['retrieval'],
  'fusion' | 'rrfK' | 'channelWeights' | 'learnedChannelWeights' | 'sessionWeight' | 'questionWeight'
>;

/**
 * Joins the channels. A memory that a channel did not bring gets nothing from it:
 * - weighted: ws × similarity / best similarity + wk × keyword score / best keyword score, where the similarity is its own
 *   or what the question before it lends, times the weight that an episode has for its conversation;
 * - rrf: ws / (k + semantic rank) + wk / (k + keyword rank).
 */
export function fuse(candidates: readonly CandidateRow[], mode: SearchMode, retrieval: Retrieval): Match[] {
  const words = candidates.map(readWords);
  const semanticRanks = rank(candidates, ({ nearest, similarity }) => (nearest ? similarity : null));
  const keywordRanks = rank(candidates, (_candidate, place) => words[place]?.total || null);
  const conversationOf = readConversation(candidates);
  const matches = candidates.map((candidate, place): Match => {
    const { own, total } = words[place] as WordScores;
    const parts: MatchParts = {
      similarity: candidate.similarity,
      semanticRank: semanticRanks.get(candidate) ?? null,
      keywordScore: own,
      lentScore: total - own,
      keywordRank: keywordRanks.get(candidate) ?? null,
      ...conversationOf(candidate),
      rerankScore: null,
    };
    return { candidate, parts, score: 0, relevance: 0 };
  });
  const asked = matches.filter((match) => belongs(match, mode));
  const scoreOf = createScore(asked, mode, retrieval);
  for (const match of asked) match.score = steady(scoreOf(match));
  const best = Math.max(0, ...asked.map(({ score }) => score));
  for (const match of asked) match.relevance = best === 0 ? 0 : Math.max(0, match.score / best);
  return asked.toSorted(byScore);
}

/** The order of every result: total, so that the same question has the same answer each time. */
export function byScore(
  a: { score: number; candidate: CandidateRow },
  b: { score: number; candidate: CandidateRow },
): number {
  return b.score - a.score || byAge(a.candidate, b.candidate);
}

function byAge(a: CandidateRow, b: CandidateRow): number {
  return b.created_at - a.created_at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** A word search returns what has a word of the query; a neighbour's score only lifts it. */
function belongs({ parts }: Match, mode: SearchMode): boolean {
  if (mode === 'semantic') return parts.similarity !== null;
  return mode === 'hybrid' || parts.keywordScore > 0;
}

function createScore(matches: readonly Match[], mode: SearchMode, retrieval: Retrieval): (match: Match) => number {
  if (mode === 'semantic') return ({ parts }) => parts.similarity ?? 0;
  if (mode === 'keyword') return keywordTotal;
  return retrieval.fusion === 'rrf' ? joinRanks(retrieval) : joinShares(matches, retrieval);
}

function joinRanks(retrieval: Retrieval): (match: Match) => number {
  const reciprocal = (place: number | null): number => (place === null ? 0 : 1 / (retrieval.rrfK + place));
  const weights = weightsByType(retrieval);
  return ({ candidate, parts }) => {
    const { semantic, keyword } = weights[candidate.type];
    return semantic * reciprocal(parts.semanticRank) + keyword * reciprocal(parts.keywordRank);
  };
}

function joinShares(matches: readonly Match[], retrieval: Retrieval): (match: Match) => number {
  const all = matches.map(({ parts }) => parts);
  const conversationWeightOf = createConversationWeight(all, retrieval);
  const bestSimilarity = Math.max(0, ...matches.map(({ parts }) => parts.similarity ?? 0));
  const bestKeyword = Math.max(0, ...matches.map(keywordTotal));
  const weights = weightsByType(retrieval);
  return ({ candidate, parts }) => {
    const { semantic, keyword } = weights[candidate.type];
    const byMeaning = shareOf(Math.max(parts.similarity ?? 0, parts.lentSimilarity ?? 0), bestSimilarity);
    const byWords = shareOf(keywordTotal({ parts }), bestKeyword);
    return (semantic * byMeaning + keyword * byWords) * conversationWeightOf(parts);
  };
}

/**
 * What was said in a conversation is asked for in its words, and its neighbours help; a fact or rule is a sentence of its
 * own that is asked for in others.
 */
function weightsByType(retrieval: Retrieval): Record<MemoryType, Retrieval['channelWeights']> {
  const learned = normaliseWeights(retrieval.learnedChannelWeights);
  return { episode: normaliseWeights(retrieval.channelWeights), fact: learned, rule: learned };
}

interface WordScores {
  own: number;
  total: number;
}

/** Each word counts once: its own, or what a neighbour lends of it if that is more. */
function readWords({ words, lenders }: CandidateRow): WordScores {
  let [own, total] = [0, 0];
  words.forEach((value, index) => {
    let most = value;
    if (lenders !== null)
      for (const { share, words: lent } of lenders) most = Math.max(most, share * (lent[index] ?? 0));
    own += value;
    total += most;
  });
  return { own, total };
}

function keywordTotal({ parts }: Pick<Match, 'parts'>): number {
  return parts.keywordScore + parts.lentScore;
}

function normaliseWeights({ semantic, keyword }: Retrieval['channelWeights']): Retrieval['channelWeights'] {
  const sum = semantic + keyword;
  return { semantic: semantic / sum, keyword: keyword / sum };
}

function shareOf(value: number, best: number): number {
  return best === 0 ? 0 : Math.max(0, value) / best;
}

function rank(
  candidates: readonly CandidateRow[],
  value: (candidate: CandidateRow, place: number) => number | null,
): Map<CandidateRow, number> {
  const listed: { candidate: CandidateRow; score: number }[] = [];
  candidates.forEach((candidate, place) => {
    const score = value(candidate, place);
    if (score !== null) listed.push({ candidate, score: steady(score) });
  });
  return new Map(listed.toSorted(byScore).map(({ candidate }, index) => [candidate, index + 1]));
}

/** Sums that a database adds up in another order differ in their last digits: no order may hang on those. */
export function steady(score: number): number {
  return Math.round(score * 1e12) / 1e12;
}
