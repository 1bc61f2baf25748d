import { requeue, selectToRequeue } from '../../db/sql/requeue-episodes.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { Episode } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { authorize } from '../../memory/permissions.ts';
import { onlyButlerOf, requireButler } from '../../memory/reach.ts';
import { loadMemories, referenceKey } from '../../memory/memories.ts';
import { mutate } from '../../memory/mutation.ts';
import { normaliseName } from '../../memory/text.ts';
import { checkDate, checkLimit, checkOneOf, checkUuid } from '../../memory/values.ts';
import { dueFor } from './claim.ts';
import { engineNames } from './engine-name.ts';
import { changeEpisodeStates } from './episode-states.ts';

export const requeueStatuses = ['dead_letter', 'failed', 'consolidated'] as const;
export type RequeueStatus = (typeof requeueStatuses)[number];

export interface RequeueInput {
  /** Either these, or those that the rest describes. */
  ids?: readonly string[] | null | undefined;
  status?: string | null | undefined;
  /** Only those that a run of this engine dealt with last. */
  engine?: string | null | undefined;
  butler?: string | null | undefined;
  /** Only those that were stored since. */
  since?: Date | null | undefined;
  limit?: number | null | undefined;
}

export interface RequeueOutcome {
  episodes: Episode[];
  refused: { id: string; reason: string }[];
}

const mostRequeued = 1000;

/** Has episodes consolidated anew, as if they had never been tried. Of two who ask for the same one, one does it. */
export async function requeueEpisodes(context: MemoryContext, input: RequeueInput): Promise<RequeueOutcome> {
  authorize(context, 'mutation requeueEpisodes');
  const { tenantId } = context.principal;
  const ids = await chooseIds(context, input);
  const { expiredBefore } = dueFor(context);
  const change = requeue({ tenantId, ids, butler: onlyButlerOf(context), expiredBefore });
  const changed = await mutate(context, (mutation) =>
    changeEpisodeStates(mutation, change, { nameEvent: () => 'episode.requeued' }),
  );
  const rows = await loadMemories(
    context,
    ids.map((id) => ({ type: 'episode', id })),
  );
  const episodeOf = (id: string): Episode | undefined => rows.get(referenceKey({ type: 'episode', id })) as Episode;
  const done = new Set(changed.map(({ id }) => id));
  return {
    episodes: ids.filter((id) => done.has(id)).flatMap((id) => episodeOf(id) ?? []),
    refused: ids.filter((id) => !done.has(id)).map((id) => ({ id, reason: whyNot(context, episodeOf(id)) })),
  };
}

function whyNot(context: MemoryContext, episode: Episode | undefined): string {
  const only = onlyButlerOf(context);
  if (episode === undefined || (only !== null && episode.butler !== only)) return 'the episode is not there';
  if (episode.forgottenAt !== null) return 'the episode is forgotten: restore it first';
  const { pendingGraceDays } = context.config.memory.episodes;
  if (episode.expiresAt <= dueFor(context).expiredBefore) {
    return `the episode expired more than ${pendingGraceDays} days ago (pending_grace_days), and is about to be removed`;
  }
  return 'the episode is pending already';
}

async function chooseIds(context: MemoryContext, input: RequeueInput): Promise<string[]> {
  const { tenantId } = context.principal;
  if (input.ids !== null && input.ids !== undefined) return checkIds(input);
  const filter = {
    tenantId,
    statuses: statusesOf(input),
    engine: input.engine ? checkOneOf('engine', input.engine, engineNames) : null,
    butler: input.butler ? requireButler(context, normaliseName('butler', input.butler)) : onlyButlerOf(context),
    since: checkDate('since', input.since),
    expiredBefore: dueFor(context).expiredBefore,
    limit: checkLimit('limit', input.limit, mostRequeued, mostRequeued),
  };
  const rows = await context.db.client.$queryRaw<{ id: string }[]>(selectToRequeue(filter));
  return rows.map(({ id }) => id);
}

function checkIds({ ids, status, engine, butler, since }: RequeueInput): string[] {
  const given = ids ?? [];
  if (given.length === 0 || given.length > mostRequeued) {
    throw invalidInput('ids', `1 to ${mostRequeued} ids of episodes`, given.length);
  }
  if (status ?? engine ?? butler ?? since) {
    throw new MemoryError('INVALID_INPUT', 'ids: alone, or else status, engine, butler and since; given both');
  }
  return [...new Set(given.map((id, place) => checkUuid(`ids[${place}]`, id)))];
}

/** What went well is done again only by who says what it was done with: else it would be everything. */
function statusesOf({ status, engine }: RequeueInput): RequeueStatus[] {
  if (status === null || status === undefined) return ['dead_letter', 'failed'];
  const checked = checkOneOf('status', status, requeueStatuses);
  if (checked === 'consolidated' && !engine) {
    throw invalidInput('engine', `one of ${engineNames.join(', ')} with status "consolidated"`, engine ?? null);
  }
  return [checked];
}
