import { listTokens, type TokensQuery } from '../../db/queries/token-vectors.ts';
import { averageTokens, compareTokens } from '../../embedding/token-vectors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import { weighPiece } from '../query/function-words.ts';
import type { AskedTokens, TokenSimilarity } from './evidence.ts';
import { judge, matchScoreOf } from './judge.ts';
import type { RankedMatches } from './rank-matches.ts';
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
  const lenders = best.flatMap(({ memory }) => evidence.preceding.get(memory.id) ?? []);
  const references = [
    ...new Map([...best.map(({ memory }) => memory), ...lenders].map((one) => [one.id, one])).values(),
  ];
  return { asked, query: { version: asked.version, references } };
}

function compareAll(
  found: RankedMatches,
  { tokens: asked, whole }: AskedTokens,
  tokensById: ReadonlyMap<string, Uint8Array>,
): RankedMatches {
  const weights = asked.pieces.map(weighPiece);
  const wholeWeights = whole?.pieces.map(weighPiece) ?? [];
  const pieces = new Map([...tokensById].map(([id, packed]) => [id, compareTokens(asked, packed)]));
  const tokenSimilarities = new Map<string, TokenSimilarity>();
  for (const [id, packed] of tokensById) {
    const own = pieces.get(id) ?? null;
    const similarity = own && averageTokens(own, weights);
    if (own === null || similarity === null) continue;
    const wholePieces = whole && compareTokens(whole, packed);
    const lent = (found.evidence.preceding.get(id) ?? []).map((before) => {
      const better = pieces.get(before.id)?.map((one, place) => Math.max(one, own[place] ?? 0));
      return better === undefined ? 0 : (averageTokens(better, weights) ?? similarity) - similarity;
    });
    tokenSimilarities.set(id, {
      asked: similarity,
      whole: (wholePieces && averageTokens(wholePieces, wholeWeights)) ?? similarity,
      lent: Math.max(0, ...lent),
    });
  }
  return { ...found, evidence: { ...found.evidence, tokenSimilarities } };
}
