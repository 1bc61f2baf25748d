import { failEpisodes } from '../../db/sql/consolidate-episodes.ts';
import { areRunsLost, lockLostRuns } from '../../db/sql/lock-consolidation-run.ts';
import type { ConsolidationRun } from '../../generated/prisma/client.ts';
import { atOneMoment, type MemoryContext } from '../../memory/context.ts';
import { createMutation, mutate, type Mutation } from '../../memory/mutation.ts';
import { checkUuid } from '../../memory/values.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { Usage } from './engine.ts';
import { changeEpisodeStates } from './episode-states.ts';
import { finishRun, getRun, lockRunningRun } from './run.ts';
import { sanitiseReason } from './sanitise-reason.ts';
import type { EventType } from '../../memory/events.ts';

export interface RunFailure {
  reason: string;
  /** False when no retry can mend it: the episodes become `failed`. */
  retryable: boolean;
  /** The next attempt waits at least so long. */
  retryAfterMs?: number | undefined;
  usage?: Usage | undefined;
}

/** The run did not come to anything: its episodes are tried again later, or are dead letters from now on. */
export async function failRun(context: MemoryContext, runId: string, failure: RunFailure): Promise<ConsolidationRun> {
  const id = checkUuid('run_id', runId);
  await mutate(context, async (mutation) => {
    const { episodeIds } = await lockRunningRun(mutation, id);
    const reason = await sanitise(mutation, episodeIds, failure.reason);
    await failEpisodesOf(mutation, { runId: id, episodeIds }, { ...failure, reason });
    await finishRun(mutation, id, 'failed', { error: reason, ...columnsOf(failure.usage) });
  });
  return getRun(context, id);
}

/** Ends a run for a reason that lies with nothing in it: its episodes are as they were, with no attempt counted. */
export async function releaseRun(
  context: MemoryContext,
  runId: string,
  { reason, usage }: { reason: string; usage?: Usage | undefined },
): Promise<void> {
  await mutate(context, async (mutation) => {
    const { episodeIds } = await lockRunningRun(mutation, runId);
    const error = await sanitise(mutation, episodeIds, reason);
    await finishRun(mutation, runId, 'failed', { error, ...columnsOf(usage) });
  });
}

export function columnsOf({ model, inputTokens, outputTokens }: Usage = {}): UsageColumns {
  return { model: model ?? null, inputTokens: inputTokens ?? null, outputTokens: outputTokens ?? null };
}

type UsageColumns = Pick<ConsolidationRun, 'model' | 'inputTokens' | 'outputTokens'>;

async function sanitise(mutation: Mutation, ids: readonly string[], reason: string): Promise<string> {
  const { context, transaction, tenantId } = mutation;
  const where = { tenantId, id: { in: [...ids] } };
  const episodes = await transaction.episode.findMany({ where, select: { content: true } });
  const texts = episodes.map(({ content }) => content);
  // What is left of a secret after the cut would not be known for one.
  return sanitiseReason(createRedactor(context).mask(reason), texts);
}

/** What workers left behind that never came back. A lost lease counts as an attempt: the episodes may be why. */
export async function giveBackLostLeases(caller: MemoryContext): Promise<number> {
  // Whoever claims did not do this: its own event is another.
  const context = atOneMoment({ ...caller, recorded: [] });
  const { tenantId } = context.principal;
  // There hardly ever is one, and a transaction costs more than to ask.
  const [areLost] = await context.db.roundTrip(tenantId, [areRunsLost(tenantId, context.now())]);
  if (areLost !== 't') return 0;
  return context.db.transaction(tenantId, async (transaction) => {
    const lost = await transaction.$queryRaw<{ id: string }[]>(lockLostRuns(tenantId, context.now()));
    for (const { id: runId } of lost) {
      const mutation = createMutation(context, transaction);
      const where = { tenantId_id: { tenantId, id: runId } };
      const { episodeIds } = await transaction.consolidationRun.findUniqueOrThrow({ where });
      await failEpisodesOf(mutation, { runId, episodeIds }, { reason: leaseLost, retryable: true });
      await finishRun(mutation, runId, 'lost', { error: leaseLost });
    }
    return lost.length;
  });
}

const leaseLost = 'the lease was lost: the worker did not answer in time';

export async function failEpisodesOf(
  mutation: Mutation,
  { runId, episodeIds: ids }: { runId: string; episodeIds: readonly string[] },
  { reason, retryable, retryAfterMs = 0 }: RunFailure,
): Promise<void> {
  const { context, tenantId, now } = mutation;
  const { maxAttempts, retryBaseSeconds } = context.config.memory.consolidation;
  const leastWaitSeconds = retryAfterMs / 1000;
  const failure = { reason, retryable, now, maxAttempts, retryBaseSeconds, leastWaitSeconds };
  await changeEpisodeStates(mutation, failEpisodes({ tenantId, ids, runId }, failure), {
    nameEvent,
    causeEventId: mutation.eventId,
  });
}

function nameEvent(status: string): EventType {
  if (status === 'dead_letter') return 'episode.dead_lettered';
  return status === 'failed' ? 'episode.failed' : 'episode.consolidation_failed';
}
