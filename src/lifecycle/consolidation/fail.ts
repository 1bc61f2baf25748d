import { failEpisodes } from '../../db/sql/consolidate-episodes.ts';
import { areRunsLost, lockLostRun, selectLostRuns } from '../../db/sql/lock-consolidation-run.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { ConsolidationRun } from '../../generated/prisma/client.ts';
import { atOneMoment, type MemoryContext } from '../../memory/context.ts';
import { mutate, type Mutation } from '../../memory/mutation.ts';
import { authorize } from '../../memory/permissions.ts';
import { checkUuid } from '../../memory/values.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { changeEpisodeStates } from './episode-states.ts';
import { finishRun, getRun, lockRunningRun, type Usage } from './run.ts';
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

/** A run that failed, and those of its episodes that not even a failure could be written to. */
export interface FailedRun {
  run: ConsolidationRun;
  stuck: string[];
}

/** The run did not come to anything: its episodes are tried again later, or are dead letters from now on. */
export async function failRun(context: MemoryContext, runId: string, failure: RunFailure): Promise<FailedRun> {
  authorize(context, 'mutation failConsolidation');
  const id = checkUuid('run_id', runId);
  const lock = (mutation: Mutation): Promise<ConsolidationRun> => lockRunningRun(mutation, id);
  const stuck = await endInFailure(context, { runId: id, status: 'failed', lock, failure });
  return { run: await getRun(context, id), stuck };
}

interface FailureOfRun {
  runId: string;
  status: 'failed' | 'lost';
  /** The run, locked; null when it is somebody else's to end. */
  lock: (mutation: Mutation) => Promise<ConsolidationRun | null>;
  failure: RunFailure;
}

/**
 * Counts an attempt of each episode and ends the run. If one episode keeps that from being written, each is written by
 * itself: no episode stops the others. Returns those that could not be written.
 */
async function endInFailure(context: MemoryContext, ending: FailureOfRun): Promise<string[]> {
  const { runId, failure } = ending;
  try {
    await inRun(context, ending, async (mutation, { episodeIds }) => {
      const reason = await sanitise(mutation, episodeIds, failure.reason);
      await failEpisodesOf(mutation, { runId, episodeIds }, { ...failure, reason });
      await finishFailed(mutation, ending, reason);
    });
    return [];
  } catch (error) {
    if (isCallersProblem(error)) throw error;
    context.logger.error({ err: error, runId }, 'could not write the failure of a consolidation run at once');
    return failOneByOne(context, ending);
  }
}

/** Errors on purpose: the run is over, or the database away. One row may be why a statement took too long. */
function isCallersProblem(error: unknown): boolean {
  return error instanceof MemoryError && error.code !== 'TIMEOUT';
}

async function failOneByOne(context: MemoryContext, ending: FailureOfRun): Promise<string[]> {
  const { runId, failure } = ending;
  const stuck: string[] = [];
  const episodeIds = (await inRun(context, ending, async (_mutation, run) => run.episodeIds)) ?? [];
  for (const id of episodeIds) {
    try {
      await inRun(context, ending, async (mutation) => {
        const reason = await sanitise(mutation, [id], failure.reason);
        await failEpisodesOf(mutation, { runId, episodeIds: [id], causeEventId: null }, { ...failure, reason });
      });
    } catch (error) {
      if (isCallersProblem(error)) throw error;
      context.logger.error({ err: error, runId, episodeId: id }, 'an episode was passed over by consolidation');
      stuck.push(id);
    }
  }
  await inRun(context, ending, async (mutation) => {
    await finishFailed(mutation, ending, await sanitise(mutation, episodeIds, failure.reason));
  });
  return stuck;
}

async function inRun<T>(
  context: MemoryContext,
  { lock }: FailureOfRun,
  work: (mutation: Mutation, run: ConsolidationRun) => Promise<T>,
): Promise<T | null> {
  return mutate(context, async (mutation) => {
    const run = await lock(mutation);
    return run === null ? null : work(mutation, run);
  });
}

async function finishFailed(
  mutation: Mutation,
  { runId, status, failure }: FailureOfRun,
  error: string,
): Promise<void> {
  await finishRun(mutation, runId, status, { error, ...columnsOf(failure.usage) });
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
  const client = context.db.client;
  // There hardly ever is one, and a transaction costs more than to ask.
  const [areLost] = await context.db.roundTrip([areRunsLost(tenantId, context.now())]);
  if (areLost !== 't') return 0;
  const lost = await client.$queryRaw<{ id: string }[]>(selectLostRuns(tenantId, context.now()));
  const failure = { reason: leaseLost, retryable: true };
  for (const { id: runId } of lost) {
    const lock = (mutation: Mutation): Promise<ConsolidationRun | null> => lockLost(mutation, runId);
    await endInFailure(context, { runId, status: 'lost', lock, failure }).catch((error: unknown) => {
      if (isCallersProblem(error)) throw error;
      context.logger.error({ err: error, runId }, 'could not give back the lease of a consolidation run');
    });
  }
  return lost.length;
}

/** One that somebody is writing for, or giving back, is passed over. */
async function lockLost({ transaction, tenantId, now }: Mutation, runId: string): Promise<ConsolidationRun | null> {
  const locked = await transaction.$queryRaw<{ id: string }[]>(lockLostRun(tenantId, runId, now));
  const where = { tenantId_id: { tenantId, id: runId } };
  return locked.length === 0 ? null : transaction.consolidationRun.findUniqueOrThrow({ where });
}

const leaseLost = 'the lease was lost: the worker did not answer in time';

interface FailedEpisodes {
  runId: string;
  episodeIds: readonly string[];
  /** Null where the mutation ends no run. */
  causeEventId?: string | null;
}

export async function failEpisodesOf(
  mutation: Mutation,
  { runId, episodeIds: ids, causeEventId = mutation.eventId }: FailedEpisodes,
  { reason, retryable, retryAfterMs = 0 }: RunFailure,
): Promise<void> {
  const { context, tenantId, now } = mutation;
  const { maxAttempts, retryBaseSeconds } = context.config.memory.consolidation;
  const leastWaitSeconds = retryAfterMs / 1000;
  const failure = { reason, retryable, now, maxAttempts, retryBaseSeconds, leastWaitSeconds };
  await changeEpisodeStates(mutation, failEpisodes({ tenantId, ids, runId }, failure), {
    nameEvent,
    ...(causeEventId !== null && { causeEventId }),
  });
}

function nameEvent(status: string): EventType {
  if (status === 'dead_letter') return 'episode.dead_lettered';
  return status === 'failed' ? 'episode.failed' : 'episode.consolidation_failed';
}
