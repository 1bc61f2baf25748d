import { listToRequeue } from '../../db/queries/episode-states.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { Episode } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { authorize } from '../../memory/permissions.ts';
import { onlyButlerOf, requireButler } from '../../memory/reach.ts';
import { loadMemories, referenceKey } from '../../memory/memories.ts';
import { mapWritten, mutate, type Written } from '../../memory/mutation.ts';
import { normaliseName } from '../../memory/text.ts';
import { resolveId } from '../../memory/resolve-id.ts';
import { checkDate, checkLimit, checkOneOf } from '../../memory/values.ts';
import { getDueConditions } from './claim.ts';
import { requeuePending } from './episode-states.ts';
import { engineNames } from './run.ts';

export const requeueStatuses = ['dead_letter', 'failed', 'consolidated'] as const;
export type RequeueStatus = (typeof requeueStatuses)[number];

export interface RequeueInput {
  /** Either these ids, or the episodes that match the other fields. */
  ids?: readonly string[] | null | undefined;
  status?: string | null | undefined;
  /** Only episodes whose last run was of this engine. */
  engine?: string | null | undefined;
  /** Only consolidated episodes of which nothing was kept. */
  nothingFound?: boolean | null | undefined;
  butler?: string | null | undefined;
  /** Only episodes stored since. */
  since?: Date | null | undefined;
  limit?: number | null | undefined;
}

export interface RequeueOutcome {
  episodes: Episode[];
  refused: { id: string; reason: string }[];
}

const mostRequeued = 1000;

/** Makes episodes pending again, as if they had never been tried. */
export async function requeueEpisodes(context: MemoryContext, input: RequeueInput): Promise<Written<RequeueOutcome>> {
  authorize(context, 'mutation requeueEpisodes');
  const ids = await chooseIds(context, input);
  const { expiredBefore } = getDueConditions(context);
  const written = await mutate(context, (mutation) =>
    requeuePending(mutation, ids, { butler: onlyButlerOf(context), expiredBefore }),
  );
  const rows = await loadMemories(
    context,
    ids.map((id) => ({ type: 'episode', id })),
  );
  const findEpisode = (id: string): Episode | undefined => rows.get(referenceKey({ type: 'episode', id })) as Episode;
  return mapWritten(written, (done) => ({
    episodes: ids.filter((id) => done.has(id)).flatMap((id) => findEpisode(id) ?? []),
    refused: ids.filter((id) => !done.has(id)).map((id) => ({ id, reason: explainRefusal(context, findEpisode(id)) })),
  }));
}

function explainRefusal(context: MemoryContext, episode: Episode | undefined): string {
  const only = onlyButlerOf(context);
  if (episode === undefined || (only !== null && episode.butler !== only)) return 'the episode is not there';
  if (episode.forgottenAt !== null) return 'the episode is forgotten: restore it first';
  const { pendingGraceDays } = context.config.memory.episodes;
  if (episode.expiresAt <= getDueConditions(context).expiredBefore) {
    return `the episode expired more than ${pendingGraceDays} days ago (pending_grace_days), and is about to be removed`;
  }
  return 'the episode is pending already';
}

async function chooseIds(context: MemoryContext, input: RequeueInput): Promise<string[]> {
  if (input.ids !== null && input.ids !== undefined) return resolveIds(context, checkIds(input));
  const filter = {
    statuses: chooseStatuses(input),
    engine: input.engine ? checkOneOf('engine', input.engine, engineNames) : null,
    nothingFound: input.nothingFound ?? false,
    butler: input.butler ? requireButler(context, normaliseName('butler', input.butler)) : onlyButlerOf(context),
    since: checkDate('since', input.since),
    expiredBefore: getDueConditions(context).expiredBefore,
    limit: checkLimit('limit', input.limit, mostRequeued, mostRequeued),
  };
  return listToRequeue(context.db.client, filter);
}

async function resolveIds(context: MemoryContext, given: readonly string[]): Promise<string[]> {
  const ids = given.map((id, place) => resolveId(context, `ids[${place}]`, id, 'episode'));
  return [...new Set(await Promise.all(ids))];
}

function checkIds({ ids, status, engine, nothingFound, butler, since }: RequeueInput): readonly string[] {
  const given = ids ?? [];
  if (given.length === 0 || given.length > mostRequeued) {
    throw invalidInput('ids', `1 to ${mostRequeued} ids of episodes`, given.length);
  }
  if (status ?? engine ?? nothingFound ?? butler ?? since) {
    throw new MemoryError(
      'INVALID_INPUT',
      'ids must be given alone, without status, engine, nothing_found, butler and since (got both)',
    );
  }
  return given;
}

/** Consolidated episodes are requeued by engine or by what was found, because otherwise that would be all of them. */
function chooseStatuses({ status, engine, nothingFound }: RequeueInput): RequeueStatus[] {
  if (status === null || status === undefined) return nothingFound ? ['consolidated'] : ['dead_letter', 'failed'];
  const checked = checkOneOf('status', status, requeueStatuses);
  if (checked === 'consolidated' && !engine && !nothingFound) {
    throw invalidInput('engine', `one of ${engineNames.join(', ')} with status "consolidated"`, engine ?? null);
  }
  return [checked];
}
