import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import type { SemanticChannel } from '../query/query-vector.ts';
import { findAllCandidates, type FoundCandidates } from './find-candidates.ts';
import { fuse } from './fuse.ts';
import type { Ranked } from './ranked.ts';
import type { Evidence } from './evidence.ts';
import { rerankByCrossEncoder } from './rerank-by-cross-encoder.ts';
import { rerankByFeatures } from './rerank-by-features.ts';
import { route } from './route.ts';
import type { Stopwatch } from './stopwatch.ts';

export interface RankedMatches {
  /** Best first. */
  ranked: Ranked[];
  semanticChannel: SemanticChannel;
  evidence: Evidence;
}

/** Ranks what matches each search: the stages that search, recall and context have in common. */
export async function rankMatches(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  stopwatch: Stopwatch,
  also: readonly Prisma.Sql[] = [],
): Promise<{ matches: RankedMatches[]; answers: (string | null)[] }> {
  const { found, answers } = await findAllCandidates(context, searches, stopwatch, also);
  const ranked = await stopwatch.time('fuse', async () =>
    searches.map((search, place) => rankCandidates(context, search, found[place] as FoundCandidates)),
  );
  const reranked = await crossEncode(context, searches, ranked, stopwatch);
  const matches = found.map(({ semanticChannel, evidence }, place) => ({
    ranked: reranked[place] ?? [],
    semanticChannel,
    evidence,
  }));
  return { matches, answers };
}

/** The modes of a single channel answer with what their channel says and nothing else. */
function rankCandidates({ config }: MemoryContext, search: PreparedSearch, { candidates }: FoundCandidates): Ranked[] {
  const { rrfK, rerank } = config.memory.retrieval;
  const fused = fuse(candidates, search.mode, rrfK);
  if (search.mode !== 'hybrid') return fused;
  const reranked = rerank === 'off' ? fused : rerankByFeatures(fused);
  return route(reranked, search.routing);
}

/** A cross-encoder, where one is configured, reads the best of what the features ranked. */
async function crossEncode(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  ranked: readonly Ranked[][],
  stopwatch: Stopwatch,
): Promise<readonly Ranked[][]> {
  const { reranker } = context;
  if (reranker === undefined) return ranked;
  return stopwatch.time('rerank', () => rerankByCrossEncoder(context, reranker, searches, ranked));
}
