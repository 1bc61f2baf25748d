import type { Config } from '../../config/schema.ts';
import type { CandidateRow } from '../../db/sql/search-candidates.ts';

/** What an episode owes to the conversation that it stands in. */
export interface ConversationParts {
  /** What the question that it replies to lends of its similarity; null where it replies to none that was found. */
  lentSimilarity: number | null;
  /** The best similarity of its session, its own at least; null for what is no episode or has no vector. */
  sessionSimilarity: number | null;
  /** Whether it asks something, at its end. */
  asks: boolean;
}

/** A reply is about what was asked, and what is said in a session is about what else is said in it. */
export function readConversation(candidates: readonly CandidateRow[]): (candidate: CandidateRow) => ConversationParts {
  const sessions = bestOfSessions(candidates);
  return (candidate) => ({
    lentSimilarity: lentSimilarity(candidate),
    sessionSimilarity: sessions.get(candidate.session_id ?? '') ?? ownSimilarity(candidate),
    asks: candidate.asks,
  });
}

type Weights = Pick<Config['memory']['retrieval'], 'questionWeight' | 'sessionWeight'>;

/**
 * What the match of an episode is multiplied by, 1 at most, so that no episode gains on a fact by it. A question names a
 * thing and leaves it to the reply to tell of it; a session in which nothing comes near the query is about other things.
 */
export function createConversationWeight(
  all: readonly ConversationParts[],
  { questionWeight, sessionWeight }: Weights,
): (parts: ConversationParts) => number {
  const best = Math.max(0, ...all.map(({ sessionSimilarity }) => sessionSimilarity ?? 0));
  return ({ asks, sessionSimilarity }) => {
    const nearness = sessionSimilarity === null || best === 0 ? 1 : Math.max(0, sessionSimilarity) / best;
    return (asks ? questionWeight : 1) * (1 - sessionWeight * (1 - nearness));
  };
}

function lentSimilarity({ lenders }: CandidateRow): number | null {
  const lent = (lenders ?? []).flatMap(({ share, similarity }) => (similarity === null ? [] : [share * similarity]));
  return lent.length === 0 ? null : Math.max(...lent);
}

function ownSimilarity({ type, similarity }: CandidateRow): number | null {
  return type === 'episode' ? similarity : null;
}

function bestOfSessions(candidates: readonly CandidateRow[]): ReadonlyMap<string, number> {
  const best = new Map<string, number>();
  for (const { session_id, similarity } of candidates) {
    if (session_id === null || similarity === null) continue;
    best.set(session_id, Math.max(similarity, best.get(session_id) ?? similarity));
  }
  return best;
}
