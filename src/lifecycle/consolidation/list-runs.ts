import type { ConsolidationRun, Episode, Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isThere } from '../../memory/episodes/episodes.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { checkOptionalName } from '../../memory/values.ts';
import type { RunStatus } from './run.ts';
import type { EngineName } from './engine-name.ts';

export interface RunFilter {
  status?: readonly RunStatus[] | null | undefined;
  engine?: readonly EngineName[] | null | undefined;
  butler?: string | null | undefined;
}

interface Page {
  offset: number;
  limit: number;
}

/** Newest first. A butler sees its own. */
export async function listRuns(
  context: MemoryContext,
  { status, engine, butler }: RunFilter,
  { offset, limit }: Page,
): Promise<{ runs: ConsolidationRun[]; total: number }> {
  const { tenantId } = context.principal;
  const only = onlyButlerOf(context);
  const name = checkOptionalName('butler', butler);
  const where: Prisma.ConsolidationRunWhereInput = {
    tenantId,
    ...(status && { status: { in: [...status] } }),
    ...(engine && { engine: { in: [...engine] } }),
    AND: [name === null ? {} : { butler: name }, only === null ? {} : { butler: only }],
  };
  return context.db.transaction(async ({ consolidationRun }) => ({
    runs: await consolidationRun.findMany({
      where,
      orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
      skip: offset,
      take: limit,
    }),
    total: await consolidationRun.count({ where }),
  }));
}

/** Those of a run that are still there, in the order in which they were stored. */
export async function listEpisodesOf(
  context: MemoryContext,
  { episodeIds }: Pick<ConsolidationRun, 'episodeIds'>,
  { offset, limit }: Page,
): Promise<{ episodes: Episode[]; total: number }> {
  const { tenantId } = context.principal;
  const where = { tenantId, id: { in: episodeIds }, ...isThere(context) };
  return context.db.transaction(async ({ episode }) => ({
    episodes: await episode.findMany({
      where,
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      skip: offset,
      take: limit,
    }),
    total: await episode.count({ where }),
  }));
}
