import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../db/database.ts';
import { insertRun, updateRun } from '../../db/queries/consolidation-runs.ts';
import {
  areManyDue,
  countDueEpisodes,
  findDueGroup,
  lockDueEpisodes,
  type ClaimedEpisode,
  type DueConditions,
  type DueCount,
  type DueGroup,
} from '../../db/queries/due-episodes.ts';
import { leftOut } from '../../memory/episodes/segments.ts';
import { maskHidden } from '../../memory/forgetting/hidden-spans.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import { isOutage } from '../../shared/errors.ts';
import { atOneMoment, type MemoryContext } from '../../memory/context.ts';
import { onlyButlerOf, requireButler } from '../../memory/reach.ts';
import { createMutation } from '../../memory/mutation.ts';
import { normaliseName } from '../../memory/text.ts';
import { checkLimit } from '../../memory/values.ts';
import { giveBackLostLeases } from './fail.ts';
import { leaseFrom } from './lease.ts';
import type { EngineName } from './run.ts';

/** Episodes of one butler that are leased to one worker. */
export interface Claim {
  runId: string;
  butler: string;
  worker: string;
  engine: EngineName;
  leaseExpiresAt: Date;
  /** In the order in which they were stored. */
  episodes: ClaimedEpisode[];
}

/** A claim with its event. */
export interface NewClaim extends Claim {
  eventId: string;
}

export type { ClaimedEpisode };

export interface ClaimInput {
  engine: EngineName;
  worker: string;
  /** Only this butler; by default the first one, by name, with a due episode. */
  butler?: string | null | undefined;
  /** At most `batch_size`, which is the default. */
  limit?: number | null | undefined;
  /** Butlers that have had their turn. */
  exceptButlers?: ReadonlySet<string> | undefined;
  /** Called for a butler whose episodes could not be claimed, before the next butler has its turn. */
  failed?: ((butler: string, error: unknown) => void) | undefined;
  /** Episodes that could not be written. */
  exceptEpisodes?: ReadonlySet<string> | undefined;
}

/**
 * Leases the next due episodes of one butler to one worker, in the order in which they were stored. A butler has one run
 * at a time; several butlers may have runs at once. Returns null when nothing is due.
 */
export async function claimEpisodes(context: MemoryContext, input: ClaimInput): Promise<NewClaim | null> {
  const { batchSize } = context.config.memory.consolidation;
  const limit = checkLimit('limit', input.limit, batchSize, batchSize);
  const only = chooseButler(context, input.butler);
  await giveBackLostLeases(context);
  for (let after = ''; ;) {
    const due = { ...getDueConditions(context), except: input.exceptEpisodes };
    const group = await findDueGroup(context.db.client, due, { after, only });
    if (group === null) return null;
    const claim =
      input.exceptButlers?.has(group.butler) === true ? null : await tryClaim(context, input, { ...group, limit });
    if (claim !== 'failed' && (claim !== null || only !== null)) return claim;
    after = group.butler;
  }
}

type SizedGroup = DueGroup & { limit: number };

/** Claims for one butler. Throws a failure if that butler was asked for; otherwise the next one has its turn. */
async function tryClaim(
  context: MemoryContext,
  input: ClaimInput,
  group: SizedGroup,
): Promise<NewClaim | 'failed' | null> {
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

/** Pending episodes may be consolidated for some days after they expired. */
export function getDueConditions({ now, config }: Pick<MemoryContext, 'now' | 'config'>): DueConditions {
  const moment = now();
  const graceMs = config.memory.episodes.pendingGraceDays * millisecondsPerDay;
  return { now: moment, expiredBefore: new Date(moment.getTime() - graceMs) };
}

/** Returns null when another worker was faster. */
async function claimGroup(
  caller: MemoryContext,
  transaction: Transaction,
  { engine, worker, exceptEpisodes }: ClaimInput,
  group: SizedGroup,
): Promise<NewClaim | null> {
  const context = atOneMoment(caller);
  const { tenantId } = context.principal;
  const { butler } = group;
  const runId = uuidv7();
  const startedAt = context.now();
  const leaseExpiresAt = leaseFrom(context, startedAt);
  if (!(await insertRun(transaction, { id: runId, butler, engine, worker, leaseExpiresAt, startedAt }))) return null;
  // Not before the run is inserted: only then is visible what the run before it did.
  const due = { ...getDueConditions(context), except: exceptEpisodes };
  const episodes = await lockDueEpisodes(transaction, due, { ...group, limit: sizeOfClaim(context, group) });
  if (episodes.length === 0) {
    await transaction.consolidationRun.delete({ where: { tenantId_id: { tenantId, id: runId } } });
    return null;
  }
  const eventId = await recordClaim(context, transaction, { runId, episodes });
  const shown = episodes.map((episode) => maskHidden(episode, leftOut));
  return { runId, eventId, butler, worker, engine, leaseExpiresAt, episodes: shown };
}

/**
 * Halves the size with each failed attempt, and claims each episode alone for the last: a batch may have failed because of
 * one episode, which must not take the others along.
 */
export function sizeOfClaim(context: MemoryContext, { attempts, limit }: { attempts: number; limit: number }): number {
  const isLast = attempts > 0 && attempts >= context.config.memory.consolidation.maxAttempts - 1;
  return isLast ? 1 : Math.max(1, Math.floor(limit / 2 ** attempts));
}

async function recordClaim(
  context: MemoryContext,
  transaction: Transaction,
  { runId, episodes }: Pick<Claim, 'runId' | 'episodes'>,
): Promise<string> {
  const episodeIds = episodes.map(({ id }) => id);
  const after = await updateRun(transaction, runId, { episodeIds, episodeCount: episodeIds.length });
  const mutation = createMutation(context, transaction);
  const eventType = 'consolidation_run.claimed';
  await mutation.record({ eventType, entityType: 'consolidation_run', entityId: runId, after });
  return mutation.eventId;
}

/** Counts what the next claims would take, by butler. */
export async function countDue(context: MemoryContext): Promise<DueCount[]> {
  return countDueEpisodes(context.db.client, getDueConditions(context));
}

export async function countWaiting(context: MemoryContext): Promise<number> {
  return (await countDue(context)).reduce((sum, { episodes }) => sum + episodes, 0);
}

/** Tells whether too many episodes are due to wait for the next scheduled run. */
export async function isBacklogLong(context: MemoryContext): Promise<boolean> {
  const { backlogEpisodes } = context.config.memory.consolidation;
  return areManyDue(context.db.client, getDueConditions(context), backlogEpisodes);
}
