import { lockRun, updateRun, type LockedRun } from '../../db/queries/consolidation-runs.ts';
import type { ConsolidationRun, Episode, Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isThere } from '../../memory/episodes/episodes.ts';
import type { EventInput } from '../../memory/events.ts';
import type { Mutation } from '../../memory/mutation.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { checkOptionalName, checkUuid } from '../../memory/values.ts';
import { MemoryError } from '../../shared/errors.ts';

export type { ConsolidationRun };

export const runStatuses = ['running', 'succeeded', 'failed', 'lost'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** What may produce the output of a run. `agent` is a butler that claims and submits through the API. */
export const engineNames = ['patterns', 'llm', 'command', 'agent'] as const;
export type EngineName = (typeof engineNames)[number];

/** The model that answered and its tokens, as the run records them; empty for an engine without a model. */
export interface Usage {
  model?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** Throws NOT_FOUND for a run that is unknown, or another butler's. */
export async function getRun(context: MemoryContext, id: string): Promise<ConsolidationRun> {
  const { client } = context.db;
  const where = { tenantId_id: { tenantId: client.tenantId, id: checkUuid('run_id', id) } };
  return requireOwn(context, id, await client.consolidationRun.findUnique({ where }));
}

export function requireOwn<Run extends { butler: string }>(context: MemoryContext, id: string, run: Run | null): Run {
  const only = onlyButlerOf(context);
  if (run === null || (only !== null && run.butler !== only)) {
    throw new MemoryError('NOT_FOUND', `consolidation run ${id} is not there`);
  }
  return run;
}

/**
 * Locks a run before every write for it, and throws unless it is running and its lease holds: after that its episodes may
 * belong to another worker.
 */
export async function lockRunningRun({ context, transaction, now }: Mutation, id: string): Promise<LockedRun> {
  return requireRunning(requireOwn(context, id, await lockRun(transaction, id)), now);
}

export function requireRunning(run: LockedRun, now: Date): LockedRun {
  if (run.status !== 'running') throw tooLate(run.id, `is ${run.status} already`);
  if (run.leaseExpiresAt === null || run.leaseExpiresAt <= now) throw tooLate(run.id, 'has lost its lease');
  return run;
}

export function tooLate(runId: string, what: string): MemoryError {
  return new MemoryError('CONFLICT', `consolidation run ${runId} ${what}: nothing was written`, {
    hint: 'Claim again; what was not consolidated is claimed anew.',
  });
}

/** Changes a locked run, and records that. */
export async function changeRun(
  mutation: Mutation,
  { id, snapshot }: LockedRun,
  eventType: EventInput['eventType'],
  values: Partial<ConsolidationRun>,
): Promise<void> {
  const after = await updateRun(mutation.transaction, id, values);
  await mutation.record({ eventType, entityType: 'consolidation_run', entityId: id, before: snapshot, after });
}

export async function finishRun(
  mutation: Mutation,
  run: LockedRun,
  status: Exclude<RunStatus, 'running'>,
  outcome: Partial<ConsolidationRun>,
): Promise<void> {
  const values = { ...outcome, status, finishedAt: mutation.now, leaseExpiresAt: null };
  await changeRun(mutation, run, `consolidation_run.${status}`, values);
}

export interface RunFilter {
  status?: readonly RunStatus[] | null | undefined;
  engine?: readonly EngineName[] | null | undefined;
  butler?: string | null | undefined;
}

interface Page {
  offset: number;
  limit: number;
}

/** Lists runs, the newest first. A butler sees its own. */
export async function listRuns(
  context: MemoryContext,
  { status, engine, butler }: RunFilter,
  { offset, limit }: Page,
): Promise<{ runs: ConsolidationRun[]; total: number }> {
  const only = onlyButlerOf(context);
  const name = checkOptionalName('butler', butler);
  const where: Prisma.ConsolidationRunWhereInput = {
    tenantId: context.db.tenantId,
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

/** Lists the episodes of a run that are still there, in the order in which they were stored. */
export async function listEpisodesOf(
  context: MemoryContext,
  { episodeIds }: Pick<ConsolidationRun, 'episodeIds'>,
  { offset, limit }: Page,
): Promise<{ episodes: Episode[]; total: number }> {
  const where = { tenantId: context.db.tenantId, id: { in: episodeIds }, ...isThere(context) };
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
