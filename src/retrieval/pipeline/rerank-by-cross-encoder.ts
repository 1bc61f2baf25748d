import type { Reranker } from '../../embedding/reranker.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { textOf } from '../../memory/embedded-text.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import { loadRows, type LoadedMemory } from './load.ts';
import { rescore, withRerankScore, type Ranked } from './ranked.ts';

/** Share of the cross-encoder in the score; the rest is the match. */
const crossEncoderWeight = 0.5;

/**
 * Orders the best matches of each hybrid search once more, by what a cross-encoder says of each together with the query. It reads
 * the texts of the state that was searched.
 */
export async function rerankByCrossEncoder(
  context: MemoryContext,
  reranker: Reranker,
  searches: readonly PreparedSearch[],
  ranked: readonly Ranked[][],
): Promise<Ranked[][]> {
  const { candidates } = context.config.memory.retrieval.crossEncoder;
  // The modes of a single channel answer with what their channel says and nothing else.
  const best = ranked.map((one, place) => (searches[place]?.mode === 'hybrid' ? one.slice(0, candidates) : []));
  const loaded = await loadRows(context, searches, best);
  return Promise.all(
    ranked.map(async (all, place) => {
      const ranks = await rankTexts(reranker, searches[place] as PreparedSearch, loaded[place] ?? []);
      return joinRanks(all, ranks);
    }),
  );
}

async function rankTexts(
  reranker: Reranker,
  { query }: PreparedSearch,
  loaded: readonly Ranked<LoadedMemory>[],
): Promise<ReadonlyMap<string, number>> {
  if (loaded.length === 0) return new Map();
  const ranks = await reranker.rank(
    query.meaning,
    loaded.map(({ memory: { type, row } }) => textOf(type, 'subject' in row ? row : { ...row, ...noSubject })),
  );
  return new Map(loaded.map(({ memory }, place) => [memory.id, ranks[place] ?? 0]));
}

const noSubject = { subject: null, predicate: null };

/**
 * score = best × ((1 − weight) × relevance + weight × rank). What was not read has a rank of 0: it keeps its place behind
 * what was read, unless that is worth less.
 */
function joinRanks(ranked: readonly Ranked[], ranks: ReadonlyMap<string, number>): Ranked[] {
  if (ranks.size === 0) return [...ranked];
  const best = ranked[0]?.score ?? 0;
  const read = ranked.map((one) => withRerankScore(one, ranks.get(one.memory.id) ?? null));
  return rescore(read, ({ relevance, parts }) => {
    const rank = parts.match?.rerankScore ?? 0;
    return best * ((1 - crossEncoderWeight) * relevance + crossEncoderWeight * rank);
  });
}
