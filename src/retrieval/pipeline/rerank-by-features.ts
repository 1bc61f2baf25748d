import type { MemoryType } from '../../db/tables.ts';
import { rescore, withRerankScore, type MatchParts, type Ranked } from './ranked.ts';

interface ChannelWeights {
  semantic: number;
  keyword: number;
}

/**
 * Weight of each channel. People ask for a conversation in its own words, and its neighbours help; a fact
 * or rule is a sentence of its own that is asked for in other words.
 */
const channelWeights: Record<MemoryType, ChannelWeights> = {
  episode: { semantic: 0.35, keyword: 0.65 },
  fact: { semantic: 0.8, keyword: 0.2 },
  rule: { semantic: 0.8, keyword: 0.2 },
};
/** Weight of an episode that asks: a question names a thing and leaves it to the reply to tell about it. */
const questionWeight = 0.9;
/** Share of an episode's score that depends on its session: one in which nothing comes near is about other things. */
const sessionWeight = 0.5;

/**
 * Stage 2 by default: orders the fused pool by
 *   semantic × similarity / best similarity + keyword × BM25 / best BM25,
 * where the similarity is its own or what the question before it lends, times the weight that an episode has for its
 * conversation. That weight is at most 1, so that no episode gains on a fact by it.
 */
export function rerankByFeatures(ranked: readonly Ranked[]): Ranked[] {
  const best = findBest(ranked);
  return rescore(ranked, ({ memory, parts: { match } }) => {
    if (match === null) return 0;
    const { semantic, keyword } = channelWeights[memory.type];
    const similarity = Math.max(match.similarity ?? 0, match.lentSimilarity ?? 0);
    const byMeaning = semantic * shareOf(similarity, best.similarity);
    const byWords = keyword * shareOf(match.keywordScore + match.lentScore, best.keyword);
    return (byMeaning + byWords) * weighConversation(match, best.session);
  }).map((one) => withRerankScore(one, one.score));
}

interface Best {
  similarity: number;
  keyword: number;
  session: number;
}

function findBest(ranked: readonly Ranked[]): Best {
  const best: Best = { similarity: 0, keyword: 0, session: 0 };
  for (const {
    parts: { match },
  } of ranked) {
    if (match === null) continue;
    best.similarity = Math.max(best.similarity, match.similarity ?? 0);
    best.keyword = Math.max(best.keyword, match.keywordScore + match.lentScore);
    best.session = Math.max(best.session, match.sessionSimilarity ?? 0);
  }
  return best;
}

function weighConversation({ asks, sessionSimilarity }: MatchParts, bestSession: number): number {
  const nearness = sessionSimilarity === null || bestSession === 0 ? 1 : shareOf(sessionSimilarity, bestSession);
  return (asks ? questionWeight : 1) * (1 - sessionWeight * (1 - nearness));
}

function shareOf(value: number, best: number): number {
  return best === 0 ? 0 : Math.max(0, value) / best;
}
