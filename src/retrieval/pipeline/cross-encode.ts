import type { Reranker } from '../../embedding/reranker.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { textOf } from '../../memory/embedded-text.ts';
import { referenceKey, type MemoryRow } from '../../memory/memories.ts';
import { byScore, steady, type Match } from './fuse.ts';
import { loadFound } from './load.ts';
import type { PreparedSearch } from '../plan/plan.ts';

export interface RankedSearch {
  search: PreparedSearch;
  /** Best first. */
  matches: Match[];
}

/**
 * The best matches of hybrid searches once more, by what a cross-encoder says of each together with the query. Their
 * texts are those of the state that was searched.
 */
export async function rerankMatches(
  context: MemoryContext,
  reranker: Reranker,
  ranked: readonly RankedSearch[],
): Promise<Match[][]> {
  const { candidates, weight } = context.config.memory.retrieval.rerank;
  // The two plain modes answer with what their channel says and nothing else.
  const first = ranked.map(({ search, matches }) => (search.mode === 'hybrid' ? matches.slice(0, candidates) : []));
  const rows = await loadFound(
    context,
    ranked.map(({ search: { filter } }, place) => ({ filter, references: referencesOf(first[place] ?? []) })),
  );
  return Promise.all(
    ranked.map(async ({ search, matches }, place) => {
      const asked = first[place] ?? [];
      if (asked.length === 0) return matches;
      return joinRanks(matches, await rankTexts(reranker, search, asked, rows[place] ?? new Map()), weight);
    }),
  );
}

function referencesOf(matches: readonly Match[]): Match['candidate'][] {
  return matches.map(({ candidate }) => candidate);
}

async function rankTexts(
  reranker: Reranker,
  { query }: PreparedSearch,
  matches: readonly Match[],
  rows: ReadonlyMap<string, MemoryRow>,
): Promise<Map<string, number>> {
  const found = matches.flatMap(({ candidate }) => {
    const row = rows.get(referenceKey(candidate));
    return row === undefined ? [] : [{ id: candidate.id, text: textOf(candidate.type, columnsOf(row)) }];
  });
  const ranks = await reranker.rank(
    query.meaning,
    found.map(({ text }) => text),
  );
  return new Map(found.map(({ id }, place) => [id, ranks[place] ?? 0]));
}

function columnsOf(row: MemoryRow): Parameters<typeof textOf>[1] {
  return 'subject' in row ? row : { content: row.content, subject: null, predicate: null };
}

/**
 * score = best × ((1 − weight) × relevance + weight × rank). What was not read has a rank of 0: it keeps its place behind
 * what was read, as long as that is not worth less.
 */
export function joinRanks(matches: readonly Match[], ranks: ReadonlyMap<string, number>, weight: number): Match[] {
  const best = Math.max(0, ...matches.map(({ score }) => score));
  const joined = matches.map((match): Match => {
    const rank = ranks.get(match.candidate.id) ?? null;
    const share = (1 - weight) * match.relevance + weight * (rank ?? 0);
    return { ...match, score: steady(best * share), parts: { ...match.parts, rerankScore: rank } };
  });
  const newBest = Math.max(0, ...joined.map(({ score }) => score));
  for (const match of joined) match.relevance = newBest === 0 ? 0 : match.score / newBest;
  return joined.toSorted(byScore);
}
