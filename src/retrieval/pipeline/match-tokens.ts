import { listTokens, type TokensQuery } from '../../db/queries/token-vectors.ts';
import { compareTokens, type TokenVectors } from '../../embedding/token-vectors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import { weighPiece } from '../query/function-words.ts';
import type { AskedTokens, TokenSimilarity } from './evidence.ts';
import { judge } from './judge.ts';
import type { RankedMatches } from './rank-matches.ts';
import type { Ranked } from './ranked.ts';
import type { Stopwatch } from './stopwatch.ts';

/** Matches that are compared word by word: the best by everything else. */
const mostCompared = 24;

/**
 * Compares each question word by word with the best of what it matches, in one round trip for all of them. Word pieces are
 * kept for the texts of today only, so that a look at the past goes without.
 */
export async function matchTokens(
  { db }: MemoryContext,
  searches: readonly PreparedSearch[],
  matches: readonly RankedMatches[],
  stopwatch: Stopwatch,
): Promise<RankedMatches[]> {
  const wanted = matches.map((found, place) => chooseCompared(searches[place] as PreparedSearch, found));
  const compared = wanted.filter((one) => one !== null);
  if (compared.length === 0) return [...matches];
  return stopwatch.time('tokens', async () => {
    const tokens = await listTokens(
      db,
      compared.map(({ query }) => query),
    );
    return matches.map((found, place) => {
      const one = wanted[place] ?? null;
      return one === null ? found : compareAll(found, one.asked, tokens[compared.indexOf(one)] ?? new Map());
    });
  });
}

/** Chooses what is compared; null where nothing is. */
function chooseCompared(
  { filter }: PreparedSearch,
  { ranked, evidence }: RankedMatches,
): { asked: AskedTokens; query: TokensQuery } | null {
  const { asked } = evidence;
  if (asked === null || filter.isPast) return null;
  const best = judge(ranked, evidence)
    .filter(({ memory }) => memory.type !== 'episode')
    .toSorted((a, b) => matchScoreOf(b) - matchScoreOf(a))
    .slice(0, mostCompared);
  if (best.length === 0) return null;
  const references = best.map(({ memory }) => memory);
  return { asked, query: { version: asked.version, references } };
}

function matchScoreOf({ parts }: Ranked): number {
  return parts.match?.matchScore ?? 0;
}

function compareAll(
  found: RankedMatches,
  { tokens: asked, whole }: AskedTokens,
  tokensById: ReadonlyMap<string, Uint8Array>,
): RankedMatches {
  const compare = (question: TokenVectors, packed: Uint8Array): number | null =>
    compareTokens(question, question.pieces.map(weighPiece), packed);
  const tokenSimilarities = new Map<string, TokenSimilarity>();
  for (const [id, packed] of tokensById) {
    const similarity = compare(asked, packed);
    if (similarity === null) continue;
    tokenSimilarities.set(id, { asked: similarity, whole: (whole && compare(whole, packed)) ?? similarity });
  }
  return { ...found, evidence: { ...found.evidence, tokenSimilarities } };
}
