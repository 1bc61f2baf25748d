import { consolidateEpisodes } from '../../db/sql/consolidate-episodes.ts';
import { lockRun } from '../../db/sql/lock-consolidation-run.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { ConsolidationRun, Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { digestInput, isDigestOf } from '../../memory/idempotency.ts';
import { mutate, type Mutation } from '../../memory/mutation.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { Extraction } from './engine.ts';
import { changeEpisodeStates } from './episode-states.ts';
import { columnsOf, failEpisodesOf } from './fail.ts';
import { parseOutput, readOutput, type RefusedItem } from './output.ts';
import { prepareItems, type Preparation, type PreparationInput, type PreparedItem } from './prepare-items.ts';
import { finishRun, getRun, lockRunningRun, tooLate } from './run.ts';
import { storeItems } from './store-items.ts';

/** All that an engine says about its output. */
export type ExtractionDetails = Omit<Extraction, 'output'>;

/**
 * Stores what an engine made of a claim: memories, links, the states of the episodes, the record of the run and the event
 * of each, all together or not at all. An item that must not be stored is refused and leaves the others. The same output
 * a second time answers with what came of the first; another one is a conflict. Throws INVALID_INPUT, and writes nothing,
 * when the output is none.
 */
export async function applyOutput(
  context: MemoryContext,
  runId: string,
  output: unknown,
  details: ExtractionDetails = {},
): Promise<ConsolidationRun> {
  const run = await getRun(context, runId);
  const given = readOutput(output);
  if (run.status === 'succeeded') {
    await mutate(context, (mutation) => requireSameOutput(mutation, run, given));
    return run;
  }
  if (run.status !== 'running') throw tooLate(run.id, `is ${run.status} already`);
  const lookedAt = chooseEpisodes(run, details);
  const input = await readInput(context, run, lookedAt);
  const preparation = await prepareItems(input, parseOutput(given));
  await mutate(context, async (mutation) => {
    // Two submits of one run may meet here: the second waits, and is then compared with the first.
    const done = await findDone(mutation, run.id);
    if (done !== null) return requireSameOutput(mutation, done, given);
    await lockRunningRun(mutation, run.id);
    await writeAll(mutation, run, { lookedAt, preparation, details, given });
  });
  return getRun(context, run.id);
}

async function requireSameOutput(
  mutation: Mutation,
  { id, outputDigest }: ConsolidationRun,
  given: unknown,
): Promise<void> {
  if (outputDigest !== null && (await isDigestOf(mutation, outputDigest, given))) return;
  throw new MemoryError(
    'CONFLICT',
    `output must be the one that consolidation run ${id} succeeded with (got another)`,
    {
      hint: 'Nothing was written. What the run stored stays; undo its event to take it back.',
    },
  );
}

/** Those of the claim that the engine says it looked at: all, unless it names them. */
function chooseEpisodes(
  { id, episodeIds }: ConsolidationRun,
  { episodeIds: named, tooLong = [] }: ExtractionDetails,
): string[] {
  const claimed = new Set(episodeIds);
  const lookedAt = named ?? episodeIds.filter((episodeId) => !tooLong.includes(episodeId));
  const foreign = [...lookedAt, ...tooLong].find((episodeId) => !claimed.has(episodeId));
  if (foreign !== undefined) throw invalidInput('episode_ids', `episodes of consolidation run ${id}`, foreign);
  if (lookedAt.length + tooLong.length === 0) throw invalidInput('episode_ids', 'at least one episode', 0);
  return [...lookedAt];
}

async function readInput(
  context: MemoryContext,
  { butler }: ConsolidationRun,
  ids: readonly string[],
): Promise<PreparationInput> {
  const { tenantId } = context.principal;
  const episodes = await context.db.client.episode.findMany({
    where: { tenantId, id: { in: [...ids] }, forgottenAt: null },
    select: { id: true, sessionId: true, content: true, createdAt: true, observedAt: true },
  });
  return { context, butler, episodes: new Map(episodes.map((episode) => [episode.id, episode])) };
}

async function findDone({ transaction, tenantId }: Mutation, runId: string): Promise<ConsolidationRun | null> {
  await transaction.$queryRaw(lockRun(tenantId, runId));
  return transaction.consolidationRun.findFirst({ where: { tenantId, id: runId, status: 'succeeded' } });
}

interface Work {
  lookedAt: readonly string[];
  preparation: Preparation;
  details: ExtractionDetails;
  given: unknown;
}

async function writeAll(
  mutation: Mutation,
  run: ConsolidationRun,
  { lookedAt, preparation, details, given }: Work,
): Promise<void> {
  const { id: runId, butler } = run;
  const { tenantId } = mutation;
  const consolidated = await changeEpisodeStates(mutation, consolidateEpisodes({ tenantId, ids: lookedAt, runId }), {
    nameEvent: () => 'episode.consolidated',
    causeEventId: mutation.eventId,
  });
  const storedAt = await readStoredAt(mutation, consolidated);
  const { refused, ...counts } = await storeItems(mutation, { butler, storedAt, items: preparation.items });
  const tooLong = { runId, episodeIds: details.tooLong ?? [] };
  await failEpisodesOf(mutation, tooLong, { reason: 'the episode is too long for a prompt', retryable: false });
  // Those that were not looked at are another run's.
  const episodeIds = run.episodeIds.filter((id) => lookedAt.includes(id) || tooLong.episodeIds.includes(id));
  await finishRun(mutation, runId, 'succeeded', {
    ...counts,
    episodeIds,
    episodeCount: episodeIds.length,
    outputDigest: await digestInput(mutation, given, preparation.items.some(isSecret)),
    refusedItems: keptRefusals(mutation, [...preparation.refused, ...refused]),
    ...columnsOf(details),
  });
}

function isSecret(item: PreparedItem): boolean {
  return 'values' in item && 'isSealed' in item.values && item.values.isSealed;
}

/** A reason may name what an engine made up: a field, a scope. */
function keptRefusals({ context }: Mutation, refused: readonly RefusedItem[]): Prisma.InputJsonArray {
  const redactor = createRedactor(context);
  return refused.map((item) => ({ ...item, reason: redactor.mask(item.reason) }));
}

/** Of those that were there to be consolidated: what was forgotten meanwhile is no evidence any more. */
async function readStoredAt(
  { transaction, tenantId }: Mutation,
  episodes: readonly { id: string }[],
): Promise<Map<string, Date>> {
  const ids = episodes.map(({ id }) => id);
  const where = { tenantId, id: { in: ids } };
  const rows = await transaction.episode.findMany({ where, select: { id: true, createdAt: true } });
  return new Map(rows.map(({ id, createdAt }) => [id, createdAt]));
}
