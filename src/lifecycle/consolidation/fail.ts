import { hasLostRun, listLostRuns, lockLostRun, type LockedRun } from '../../db/queries/consolidation-runs.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { ConsolidationRun } from '../../generated/prisma/client.ts';
import { atOneMoment, type MemoryContext } from '../../memory/context.ts';
import { addOmissions, mapWritten, mutate, type Mutation, type Written } from '../../memory/mutation.ts';
import { authorize } from '../../memory/permissions.ts';
import { checkUuid } from '../../memory/values.ts';
import { createRedactor, omissionsOf } from '../../redaction/redactor.ts';
import { failEpisodes, type EpisodeFailure } from './episode-states.ts';
import { finishRun, getRun, lockRunningRun, type Usage } from './run.ts';
import { sanitiseReason } from './sanitise-reason.ts';

export interface RunFailure extends EpisodeFailure {
  usage?: Usage | undefined;
}

/** A run that failed, and the ids of its episodes to which not even the failure could be written. */
export interface FailedRun {
  run: ConsolidationRun;
  stuck: string[];
}

/** Ends a run as failed: its episodes are tried again later, or become dead letters. */
export async function failRun(context: MemoryContext, runId: string, failure: RunFailure): Promise<Written<FailedRun>> {
  authorize(context, 'mutation failConsolidation');
  const id = checkUuid('run_id', runId);
  const lock = (mutation: Mutation): Promise<LockedRun> => lockRunningRun(mutation, id);
  const written = await endInFailure(context, { runId: id, status: 'failed', lock, failure });
  return mapWritten(written, async (stuck) => ({ run: await getRun(context, id), stuck }));
}

interface FailureOfRun {
  runId: string;
  status: 'failed' | 'lost';
  /** Locks the run; null when another transaction ends it. */
  lock: (mutation: Mutation) => Promise<LockedRun | null>;
  failure: RunFailure;
}

/**
 * Counts an attempt of each episode and ends the run. If that fails because of one episode, writes each by itself. Returns
 * the ids of those that could not be written.
 */
async function endInFailure(context: MemoryContext, ending: FailureOfRun): Promise<Written<string[]>> {
  const { runId, failure } = ending;
  try {
    const written = await inRun(context, ending, async (mutation, run) => {
      const reason = await sanitise(mutation, run.episodeIds, failure.reason);
      await failEpisodes(mutation, run.episodeIds, { ...failure, runId, reason });
      await finishFailed(mutation, run, ending, reason);
    });
    return { ...written, value: [] };
  } catch (error) {
    if (isCallersProblem(error)) throw error;
    context.logger.error({ err: error, runId }, 'could not write the failure of a consolidation run at once');
    return failOneByOne(context, ending);
  }
}

/** Tells whether the run is over or the database away. A timeout may be due to one row, so it does not count. */
function isCallersProblem(error: unknown): boolean {
  return error instanceof MemoryError && error.code !== 'TIMEOUT';
}

async function failOneByOne(context: MemoryContext, ending: FailureOfRun): Promise<Written<string[]>> {
  const { runId, failure } = ending;
  const stuck: string[] = [];
  const episodeIds = (await inRun(context, ending, async (_mutation, run) => run.episodeIds)).value ?? [];
  for (const id of episodeIds) {
    try {
      await inRun(context, ending, async (mutation) => {
        const reason = await sanitise(mutation, [id], failure.reason);
        await failEpisodes(mutation, [id], { ...failure, runId, reason }, null);
      });
    } catch (error) {
      if (isCallersProblem(error)) throw error;
      context.logger.error({ err: error, runId, episodeId: id }, 'an episode was passed over by consolidation');
      stuck.push(id);
    }
  }
  const written = await inRun(context, ending, async (mutation, run) => {
    await finishFailed(mutation, run, ending, await sanitise(mutation, episodeIds, failure.reason));
  });
  return { ...written, value: stuck };
}

async function inRun<T>(
  context: MemoryContext,
  { lock }: FailureOfRun,
  work: (mutation: Mutation, run: LockedRun) => Promise<T>,
): Promise<Written<T | null>> {
  return mutate(context, async (mutation) => {
    const run = await lock(mutation);
    return run === null ? null : work(mutation, run);
  });
}

async function finishFailed(
  mutation: Mutation,
  run: LockedRun,
  { status, failure }: FailureOfRun,
  error: string,
): Promise<void> {
  await finishRun(mutation, run, status, { error, ...toColumns(failure.usage) });
}

/** Ends a run that failed for no fault of its episodes: no attempt is counted. */
export async function releaseRun(
  context: MemoryContext,
  runId: string,
  { reason, usage }: { reason: string; usage?: Usage | undefined },
): Promise<void> {
  await mutate(context, async (mutation) => {
    const run = await lockRunningRun(mutation, runId);
    const error = await sanitise(mutation, run.episodeIds, reason);
    await finishRun(mutation, run, 'failed', { error, ...toColumns(usage) });
  });
}

export function toColumns({ model, inputTokens, outputTokens }: Usage = {}): UsageColumns {
  return { model: model ?? null, inputTokens: inputTokens ?? null, outputTokens: outputTokens ?? null };
}

type UsageColumns = Pick<ConsolidationRun, 'model' | 'inputTokens' | 'outputTokens'>;

async function sanitise(mutation: Mutation, ids: readonly string[], reason: string): Promise<string> {
  const { context, transaction, tenantId } = mutation;
  const where = { tenantId, id: { in: [...ids] } };
  const episodes = await transaction.episode.findMany({ where, select: { content: true } });
  const texts = episodes.map(({ content }) => content);
  // Masked before it is cut: the rest of a secret would not be recognised.
  const redactor = createRedactor(context);
  const masked = redactor.mask(reason);
  addOmissions(mutation.report, omissionsOf(redactor));
  return sanitiseReason(masked, texts);
}

/** Ends runs whose lease has ended. That counts as an attempt, because the episodes may be why. */
export async function giveBackLostLeases(caller: MemoryContext): Promise<number> {
  const context = atOneMoment(caller);
  // There hardly ever is one, and one round trip costs less than a transaction.
  if (!(await hasLostRun(context.db, context.now()))) return 0;
  const lost = await listLostRuns(context.db.client, context.now());
  const failure = { reason: leaseLost, retryable: true };
  for (const runId of lost) {
    const lock = ({ transaction, now }: Mutation): Promise<LockedRun | null> => lockLostRun(transaction, runId, now);
    await endInFailure(context, { runId, status: 'lost', lock, failure }).catch((error: unknown) => {
      if (isCallersProblem(error)) throw error;
      context.logger.error({ err: error, runId }, 'could not give back the lease of a consolidation run');
    });
  }
  return lost.length;
}

const leaseLost = 'the lease was lost: the worker did not answer in time';
