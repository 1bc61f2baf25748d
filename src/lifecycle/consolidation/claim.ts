import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../db/database.ts';
import { findDueGroup, selectDueEpisodes, type DueConditions, type DueGroup } from '../../db/sql/due-episodes.ts';
import { giveEpisodesToRun, insertRun } from '../../db/sql/insert-consolidation-run.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import { isOutage, MemoryError } from '../../shared/errors.ts';
import { atOneMoment, type MemoryContext } from '../../memory/context.ts';
import { onlyButlerOf, requireButler } from '../../memory/reach.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import { createMutation } from '../../memory/mutation.ts';
import { normaliseName } from '../../memory/text.ts';
import { checkLimit } from '../../memory/values.ts';
import type { EngineName } from './engine-name.ts';
import { giveBackLostLeases } from './fail.ts';
import { leaseFrom } from './lease.ts';

/** Episodes of one butler that one worker has for itself until the lease ends. */
export interface Claim {
  runId: string;
  butler: string;
  worker: string;
  engine: EngineName;
  leaseExpiresAt: Date;
  /** In the order in which they were stored. */
  episodes: ClaimedEpisode[];
}

export interface ClaimedEpisode {
  id: string;
  sessionId: string | null;
  content: string;
  importance: number;
  createdAt: Date;
  observedAt: Date | null;
}

export interface ClaimInput {
  engine: EngineName;
  worker: string;
  /** Only of this butler; otherwise of the first one, by name, that has something due. */
  butler?: string | null | undefined;
  /** At most so many; never more than `batch_size`. */
  limit?: number | null | undefined;
  /** These have had their turn. */
  exceptButlers?: ReadonlySet<string> | undefined;
  /** Called for a butler whose episodes could not be claimed. The next butler has its turn. */
  failed?: ((butler: string, error: unknown) => void) | undefined;
  /** These could not be written to. */
  exceptEpisodes?: ReadonlySet<string> | undefined;
}

/**
 * Takes the next episodes that are due, for one worker alone: of one butler, in the order in which they were stored. A
 * butler has one run at a time; other butlers' runs go on beside it. Null when nothing is due.
 */
export async function claimEpisodes(context: MemoryContext, input: ClaimInput): Promise<Claim | null> {
  const { batchSize } = context.config.memory.consolidation;
  const limit = checkLimit('limit', input.limit, batchSize, batchSize);
  const only = chooseButler(context, input.butler);
  await giveBackLostLeases(context);
  const client = context.db.client;
  for (let after = ''; ;) {
    const due = { ...dueFor(context), except: input.exceptEpisodes };
    const [group] = await client.$queryRaw<DueGroup[]>(findDueGroup(due, { after, only }));
    if (group === undefined) return null;
    const claim =
      input.exceptButlers?.has(group.butler) === true ? null : await tryClaim(context, input, { ...group, limit });
    if (claim !== 'failed' && (claim !== null || only !== null)) return claim;
    after = group.butler;
  }
}

type SizedGroup = DueGroup & { limit: number };

/** Claims of one butler. A failure is thrown where that butler was asked for, and otherwise lets the next one have its turn. */
async function tryClaim(
  context: MemoryContext,
  input: ClaimInput,
  group: SizedGroup,
): Promise<Claim | 'failed' | null> {
  try {
    return await context.db.transaction((transaction) => claimGroup(context, transaction, input, group));
  } catch (error) {
    if (isOutage(error) || input.butler) throw error;
    context.logger.error({ err: error, butler: group.butler }, 'the episodes of a butler could not be claimed');
    input.failed?.(group.butler, error);
    return 'failed';
  }
}

function chooseButler(context: MemoryContext, given: string | null | undefined): string | null {
  return given ? requireButler(context, normaliseName('butler', given)) : onlyButlerOf(context);
}

/** An episode that expired while it was pending may still be consolidated for the days of grace. */
export function dueFor({ principal, now, config }: Pick<MemoryContext, 'principal' | 'now' | 'config'>): DueConditions {
  const moment = now();
  const graceMs = config.memory.episodes.pendingGraceDays * millisecondsPerDay;
  return { tenantId: principal.tenantId, now: moment, expiredBefore: new Date(moment.getTime() - graceMs) };
}

/** Null when another worker was faster. */
async function claimGroup(
  caller: MemoryContext,
  transaction: Transaction,
  { engine, worker, exceptEpisodes }: ClaimInput,
  group: SizedGroup,
): Promise<Claim | null> {
  const context = atOneMoment(caller);
  const { tenantId } = context.principal;
  const { butler } = group;
  const runId = uuidv7();
  const startedAt = context.now();
  const leaseExpiresAt = leaseFrom(context, startedAt);
  const row = { tenantId, id: runId, butler, engine, worker, leaseExpiresAt, startedAt };
  if ((await transaction.$executeRaw(insertRun(row))) === 0) return null;
  // After the run is there, and not before: what the run before it did is in sight only now.
  const due = { ...dueFor(context), except: exceptEpisodes };
  const statement = selectDueEpisodes(due, { ...group, limit: sizeOfClaim(context, group) });
  const episodes = await transaction.$queryRaw<ClaimedEpisode[]>(statement);
  if (episodes.length === 0) {
    await transaction.consolidationRun.delete({ where: { tenantId_id: { tenantId, id: runId } } });
    return null;
  }
  await recordClaim(context, transaction, { runId, episodes });
  return { runId, butler, worker, engine, leaseExpiresAt, episodes };
}

/**
 * What failed together may have failed because of one of them: each attempt is made in groups of half the size, and the
 * last one with each alone, so that an episode that cannot be dealt with takes no other along.
 */
export function sizeOfClaim(context: MemoryContext, { attempts, limit }: { attempts: number; limit: number }): number {
  const isLast = attempts > 0 && attempts >= context.config.memory.consolidation.maxAttempts - 1;
  return isLast ? 1 : Math.max(1, Math.floor(limit / 2 ** attempts));
}

async function recordClaim(
  context: MemoryContext,
  transaction: Transaction,
  { runId, episodes }: Pick<Claim, 'runId' | 'episodes'>,
): Promise<void> {
  const episodeIds = episodes.map(({ id }) => id);
  const given = giveEpisodesToRun(context.principal.tenantId, runId, episodeIds);
  const [run] = await transaction.$queryRaw<{ snapshot: Snapshot }[]>(given);
  if (run === undefined) throw new MemoryError('NOT_FOUND', `consolidation run ${runId} is not there`);
  await createMutation(context, transaction).record({
    eventType: 'consolidation_run.claimed',
    entityType: 'consolidation_run',
    entityId: runId,
    after: run.snapshot,
  });
}
