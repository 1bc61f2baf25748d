import {
  markConsolidated,
  markFailed,
  markPending,
  type ChangedEpisode,
  type Consolidated,
} from '../../db/queries/episode-states.ts';
import { retentionOf } from '../../memory/episodes/retention.ts';
import { recordEvents, type EventInput, type EventType } from '../../memory/events.ts';
import type { Mutation } from '../../memory/mutation.ts';

/** Changes of the consolidation status of episodes, each with an event for each episode. */

export async function consolidateEpisodes(
  mutation: Mutation,
  ids: readonly string[],
  { runId, nothingFound }: Pick<Consolidated, 'runId' | 'nothingFound'>,
): Promise<ChangedEpisode[]> {
  const { context, transaction } = mutation;
  const { nothingFoundTtlDays } = context.config.memory.episodes;
  const nothingFoundDays = Math.min(nothingFoundTtlDays, retentionOf(context).episodes ?? nothingFoundTtlDays);
  const changed = await markConsolidated(transaction, ids, { runId, nothingFound, nothingFoundDays });
  await recordChanges(mutation, changed, () => 'episode.consolidated', mutation.eventId);
  return changed;
}

export interface EpisodeFailure {
  reason: string;
  /** False when no retry can succeed: the episodes become `failed`. */
  retryable: boolean;
  /** The next attempt waits at least this long. */
  retryAfterMs?: number | undefined;
}

/** Counts a failed attempt. The cause is the event that ends the run; null where the mutation ends no run. */
export async function failEpisodes(
  mutation: Mutation,
  ids: readonly string[],
  { runId, reason, retryable, retryAfterMs = 0 }: EpisodeFailure & { runId: string },
  causeEventId: string | null = mutation.eventId,
): Promise<void> {
  const { transaction, context, now } = mutation;
  const { maxAttempts, retryBaseSeconds } = context.config.memory.consolidation;
  const leastWaitSeconds = retryAfterMs / 1000;
  const attempt = { runId, reason, retryable, now, maxAttempts, retryBaseSeconds, leastWaitSeconds };
  await recordChanges(mutation, await markFailed(transaction, ids, attempt), nameFailure, causeEventId);
}

function nameFailure({ status }: ChangedEpisode): EventType {
  if (status === 'dead_letter') return 'episode.dead_lettered';
  return status === 'failed' ? 'episode.failed' : 'episode.consolidation_failed';
}

/** Requeues the episodes that may be, and returns their ids. */
export async function requeuePending(
  mutation: Mutation,
  ids: readonly string[],
  condition: { butler: string | null; expiredBefore: Date },
): Promise<Set<string>> {
  const changed = await markPending(mutation.transaction, ids, condition);
  await recordChanges(mutation, changed, () => 'episode.requeued', null);
  return new Set(changed.map(({ id }) => id));
}

async function recordChanges(
  { context, transaction }: Mutation,
  changed: readonly ChangedEpisode[],
  nameEvent: (episode: ChangedEpisode) => EventType,
  causeEventId: string | null,
): Promise<void> {
  const cause = causeEventId === null ? {} : { causeEventId };
  const events = changed.map((episode): EventInput => {
    const { id, before, after } = episode;
    return { eventType: nameEvent(episode), entityType: 'episode', entityId: id, ...cause, before, after };
  });
  if (events.length > 0) await recordEvents(context, transaction, events);
}
