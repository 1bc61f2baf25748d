import type { Candidate } from '../../db/queries/candidate.ts';
import type { SearchMode } from '../query/defaults.ts';
import { byScore, rescore, roundScore, type MatchParts, type Ranked } from './ranked.ts';

/**
 * Stage 1: orders candidates by their channels. A hybrid search adds the reciprocal ranks of both, 1 / (k + rank), and
 * nothing for a channel that did not bring a memory. The other modes order by cosine similarity or BM25 alone.
 */
export function fuse(candidates: readonly Candidate[], mode: SearchMode, rrfK: number): Ranked[] {
  const words = new Map(candidates.map((candidate) => [candidate, scoreOwnAndLent(candidate)]));
  const semanticRanks = rankBy(candidates, ({ isNearest, similarity }) => (isNearest ? similarity : null));
  const keywordRanks = rankBy(candidates, (candidate) => words.get(candidate)?.total || null);
  const sessions = findBestOfSessions(candidates);
  const ranked = candidates.map((memory): Ranked => {
    const { own, total } = words.get(memory) as WordScores;
    const [semanticRank, keywordRank] = [semanticRanks.get(memory) ?? null, keywordRanks.get(memory) ?? null];
    const match: MatchParts = {
      similarity: memory.similarity,
      wholeSimilarity: memory.wholeSimilarity,
      semanticRank,
      keywordScore: own,
      lentScore: total - own,
      keywordRank,
      lentSimilarity: findLentSimilarity(memory),
      sessionSimilarity: sessions.get(memory.sessionId ?? '') ?? (memory.type === 'episode' ? memory.similarity : null),
      asks: memory.asks,
      fusionScore:
        mode === 'hybrid' ? roundScore(reciprocal(rrfK, semanticRank) + reciprocal(rrfK, keywordRank)) : null,
      rerankScore: null,
      coverage: null,
      subjectPenalty: null,
      tokenSimilarity: null,
      matchScore: null,
    };
    return { memory, score: 0, relevance: 0, parts: { match, composite: null }, droppedBy: null, reason: null };
  });
  const found = ranked.filter((one) => isFoundBy(mode, one));
  return rescore(found, ({ parts }) => scoreByMode(mode, parts.match as MatchParts));
}

/** A keyword search returns what has a word of the query itself: what a neighbour lends only lifts it. */
function isFoundBy(mode: SearchMode, { parts: { match } }: Ranked): boolean {
  if (mode === 'semantic') return match?.similarity != null;
  return mode === 'hybrid' || (match?.keywordScore ?? 0) > 0;
}

function scoreByMode(mode: SearchMode, { fusionScore, similarity, keywordScore, lentScore }: MatchParts): number {
  if (mode === 'hybrid') return fusionScore ?? 0;
  return mode === 'semantic' ? (similarity ?? 0) : keywordScore + lentScore;
}

function reciprocal(k: number, rank: number | null): number {
  return rank === null ? 0 : 1 / (k + rank);
}

interface WordScores {
  own: number;
  /** With what neighbours lend. */
  total: number;
}

/** Counts each word once: its own score, or the best that a neighbour lends if that is more. */
function scoreOwnAndLent({ words, lenderShares, lenderWords }: Candidate): WordScores {
  const best = [...words];
  for (const [place, share] of (lenderShares ?? []).entries()) {
    const lent = lenderWords?.[place] ?? [];
    for (const [index, score] of best.entries()) best[index] = Math.max(score, share * (lent[index] ?? 0));
  }
  return { own: sum(words), total: sum(best) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function findLentSimilarity({ lenderShares, lenderSimilarities }: Candidate): number | null {
  const lent = (lenderShares ?? []).flatMap((share, place) => {
    const similarity = lenderSimilarities?.[place] ?? null;
    return similarity === null ? [] : [share * similarity];
  });
  return lent.length === 0 ? null : Math.max(...lent);
}

function findBestOfSessions(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const best = new Map<string, number>();
  for (const { sessionId, similarity } of candidates) {
    if (sessionId === null || similarity === null) continue;
    best.set(sessionId, Math.max(similarity, best.get(sessionId) ?? similarity));
  }
  return best;
}

function rankBy(
  candidates: readonly Candidate[],
  score: (candidate: Candidate) => number | null,
): ReadonlyMap<Candidate, number> {
  const scored = candidates.flatMap((memory) => {
    const value = score(memory);
    return value === null ? [] : [{ memory, score: roundScore(value) }];
  });
  return new Map(scored.toSorted(byScore).map(({ memory }, index) => [memory, index + 1]));
}
