import { readTokens, selectTokens } from '../../db/queries/token-vectors.ts';
import { compareTokens } from '../../embedding/token-vectors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import { weighPiece } from '../query/function-words.ts';
import { judge, type AskedTokens } from './judge.ts';
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
  const statements = wanted.map((one) => one?.statement).filter((statement) => statement !== undefined);
  if (statements.length === 0) return [...matches];
  return stopwatch.time('tokens', async () => {
    const answers = await db.roundTrip(statements);
    return matches.map((found, place) => {
      const one = wanted[place] ?? null;
      return one === null ? found : compareAll(found, one.asked, answers[statements.indexOf(one.statement)]);
    });
  });
}

function chooseCompared({ filter }: PreparedSearch, { ranked, evidence }: RankedMatches) {
  const { asked } = evidence;
  if (asked === null || filter.isPast) return null;
  const best = judge(ranked, evidence)
    .filter(({ memory }) => memory.type !== 'episode')
    .toSorted((a, b) => matchScoreOf(b) - matchScoreOf(a))
    .slice(0, mostCompared);
  if (best.length === 0) return null;
  const references = best.map(({ memory }) => memory);
  return { asked, statement: selectTokens(filter.tenantId, asked.version, references) };
}

function matchScoreOf({ parts }: Ranked): number {
  return parts.match?.matchScore ?? 0;
}

function compareAll(
  found: RankedMatches,
  { tokens: question }: AskedTokens,
  answer: string | null | undefined,
): RankedMatches {
  const weights = question.pieces.map(weighPiece);
  const tokenSimilarities = new Map<string, number>();
  for (const [id, tokens] of readTokens(answer)) {
    const similarity = compareTokens(question, weights, tokens);
    if (similarity !== null) tokenSimilarities.set(id, similarity);
  }
  return { ...found, evidence: { ...found.evidence, tokenSimilarities } };
}
