import { selectRunSnapshot } from '../../db/sql/consolidation-run-snapshot.ts';
import { lockRun } from '../../db/sql/lock-consolidation-run.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { ConsolidationRun, Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import type { Mutation } from '../../memory/mutation.ts';
import { checkUuid } from '../../memory/values.ts';

export type { ConsolidationRun };

export const runStatuses = ['running', 'succeeded', 'failed', 'lost'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The model that answered and its tokens, as the run records them; empty for an engine without a model. */
export interface Usage {
  model?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** Throws NOT_FOUND for one that is unknown, or another butler's. */
export async function getRun(context: MemoryContext, id: string): Promise<ConsolidationRun> {
  const { tenantId } = context.principal;
  const where = { tenantId_id: { tenantId, id: checkUuid('run_id', id) } };
  const run = await context.db.client.consolidationRun.findUnique({ where });
  return requireOwn(context, id, run);
}

function requireOwn(context: MemoryContext, id: string, run: ConsolidationRun | null): ConsolidationRun {
  const only = onlyButlerOf(context);
  if (run === null || (only !== null && run.butler !== only)) {
    throw new MemoryError('NOT_FOUND', `consolidation run ${id} is not there`);
  }
  return run;
}

/**
 * The fence before every write of a run: its row, locked, while it is under way and its lease holds. Whoever comes too
 * late has nothing to say any more: its episodes may be in other hands.
 */
export async function lockRunningRun(mutation: Mutation, runId: string): Promise<ConsolidationRun> {
  const { context, transaction, tenantId, now } = mutation;
  await transaction.$queryRaw(lockRun(tenantId, runId));
  const where = { tenantId_id: { tenantId, id: runId } };
  const run = requireOwn(context, runId, await transaction.consolidationRun.findUnique({ where }));
  if (run.status !== 'running') throw tooLate(runId, `is ${run.status} already`);
  if (run.leaseExpiresAt === null || run.leaseExpiresAt <= now) throw tooLate(runId, 'has lost its lease');
  return run;
}

export function tooLate(runId: string, what: string): MemoryError {
  return new MemoryError('CONFLICT', `consolidation run ${runId} ${what}: nothing was written`, {
    hint: 'Claim again; what was not consolidated is claimed anew.',
  });
}

/** Ends a run that the caller has locked. */
export async function finishRun(
  mutation: Mutation,
  runId: string,
  status: Exclude<RunStatus, 'running'>,
  outcome: Prisma.ConsolidationRunUpdateInput,
): Promise<void> {
  const { transaction, tenantId, now } = mutation;
  const before = await readRunSnapshot(mutation, runId);
  await transaction.consolidationRun.update({
    where: { tenantId_id: { tenantId, id: runId } },
    data: { ...outcome, status, finishedAt: now, leaseExpiresAt: null },
    select: { id: true },
  });
  const after = await readRunSnapshot(mutation, runId);
  await mutation.record({
    eventType: `consolidation_run.${status}`,
    entityType: 'consolidation_run',
    entityId: runId,
    before,
    after,
  });
}

export async function readRunSnapshot({ transaction, tenantId }: Mutation, runId: string): Promise<Snapshot> {
  const [row] = await transaction.$queryRaw<{ snapshot: Snapshot }[]>(selectRunSnapshot(tenantId, runId));
  if (row === undefined) throw new MemoryError('NOT_FOUND', `consolidation run ${runId} is not there`);
  return row.snapshot;
}
