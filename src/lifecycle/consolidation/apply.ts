import { lockRun, type LockedRun } from '../../db/queries/consolidation-runs.ts';
import type { ConsolidationRun, Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { digestInput, isDigestOf } from '../../memory/idempotency.ts';
import { quarantine } from '../../memory/quarantine/quarantine.ts';
import { addOmissions, mutate, type Mutation, type Written } from '../../memory/mutation.ts';
import { checkUuid } from '../../memory/values.ts';
import { createRedactor, omissionsOf } from '../../redaction/redactor.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { Extraction } from './engine.ts';
import { consolidateEpisodes, failEpisodes } from './episode-states.ts';
import { toColumns } from './fail.ts';
import { parseOutput, readOutput, type RefusedItem } from './output.ts';
import { prepareItems, type Preparation, type PreparationEpisode, type PreparedItem } from './prepare-items.ts';
import { finishRun, requireOwn, requireRunning, tooLate } from './run.ts';
import { storeItems } from './store-items.ts';

/** What an engine says about its output. */
export type ExtractionDetails = Omit<Extraction, 'output'>;

/**
 * Stores the output of an engine: memories, links, states of episodes, the run, and the event of each, in one transaction.
 * An item that must not be stored is refused alone. The same output a second time returns the run of the first; another
 * one is a conflict. Throws INVALID_INPUT, and writes nothing, when the output cannot be used.
 */
export async function applyOutput(
  context: MemoryContext,
  runId: string,
  output: unknown,
  details: ExtractionDetails = {},
): Promise<Written<ConsolidationRun>> {
  const { run, episodes } = await readRun(context, runId, details);
  const given = readOutput(output);
  if (run.status === 'succeeded') {
    const written = await mutate(context, (mutation) => requireSameOutput(mutation, run, given));
    return { ...written, value: run };
  }
  if (run.status !== 'running') throw tooLate(run.id, `is ${run.status} already`);
  const input = { context, butler: run.butler, episodes: new Map(episodes.map((episode) => [episode.id, episode])) };
  const preparation = await prepareItems(input, parseOutput(given));
  return mutate(context, async (mutation) => {
    // Two submits of one run may meet here: the second waits, and is then compared with the first.
    const locked = requireOwn(context, run.id, await lockRun(mutation.transaction, run.id));
    if (locked.status === 'succeeded') await requireSameOutput(mutation, locked, given);
    else await writeAll(mutation, requireRunning(locked, mutation.now), { preparation, details, given });
    const where = { tenantId_id: { tenantId: mutation.tenantId, id: run.id } };
    return mutation.transaction.consolidationRun.findUniqueOrThrow({ where });
  });
}

async function requireSameOutput(
  mutation: Mutation,
  { id, outputDigest }: Pick<ConsolidationRun, 'id' | 'outputDigest'>,
  given: unknown,
): Promise<void> {
  if (
    outputDigest !== null &&
    (await isDigestOf({ context: mutation.context, client: mutation.transaction }, outputDigest, given))
  )
    return;
  throw new MemoryError(
    'CONFLICT',
    `output must be the one that consolidation run ${id} succeeded with (got another)`,
    {
      hint: 'Nothing was written. What the run stored stays; undo its event to take it back.',
    },
  );
}

/** Reads the run and those of its episodes that the engine read and that are not forgotten. */
async function readRun(
  context: MemoryContext,
  runId: string,
  details: ExtractionDetails,
): Promise<{ run: ConsolidationRun; episodes: PreparationEpisode[] }> {
  return context.db.transaction(async ({ tenantId, consolidationRun, episode }) => {
    const where = { tenantId_id: { tenantId, id: checkUuid('run_id', runId) } };
    const run = requireOwn(context, runId, await consolidationRun.findUnique({ where }));
    if (run.status !== 'running') return { run, episodes: [] };
    const episodes = await episode.findMany({
      where: { tenantId, id: { in: chooseEpisodes(run, details) }, forgottenAt: null },
      select: {
        id: true,
        sessionId: true,
        content: true,
        segments: true,
        hiddenSpans: true,
        createdAt: true,
        observedAt: true,
      },
    });
    return { run, episodes };
  });
}

/** Returns the episodes that the engine read: all of the run, unless it names them. */
function chooseEpisodes(
  { id, episodeIds }: Pick<ConsolidationRun, 'id' | 'episodeIds'>,
  { episodeIds: named, tooLong = [] }: ExtractionDetails,
): string[] {
  const claimed = new Set(episodeIds);
  const read = named ?? episodeIds.filter((episodeId) => !tooLong.includes(episodeId));
  const foreign = [...read, ...tooLong].find((episodeId) => !claimed.has(episodeId));
  if (foreign !== undefined) throw invalidInput('episode_ids', `episodes of consolidation run ${id}`, foreign);
  if (read.length + tooLong.length === 0) throw invalidInput('episode_ids', 'at least one episode', 0);
  return [...read];
}

interface Work {
  preparation: Preparation;
  details: ExtractionDetails;
  given: unknown;
}

async function writeAll(mutation: Mutation, run: LockedRun, { preparation, details, given }: Work): Promise<void> {
  const { id: runId, butler } = run;
  const read = chooseEpisodes(run, details);
  const { tooLong = [] } = details;
  // Without episodes that were forgotten meanwhile: they are no evidence any more.
  const learned = preparation.items.filter(({ kind }) => kind !== 'said_by_others');
  const kept = new Set(learned.flatMap(({ evidence }) => evidence));
  const nothingFound = read.filter((episodeId) => !kept.has(episodeId));
  const consolidated = await consolidateEpisodes(mutation, read, { runId, nothingFound });
  const saidAt = new Map(consolidated.map((one) => [one.id, one.saidAt]));
  const { refused, ...counts } = await storeItems(mutation, { butler, saidAt, items: preparation.items });
  const foreign = (details.foreign ?? []).filter(({ episodeId }) => saidAt.has(episodeId));
  await quarantine(mutation, butler, foreign);
  await failEpisodes(mutation, tooLong, { runId, reason: 'the episode is too long for a prompt', retryable: false });
  // Episodes that the engine did not read belong to another run.
  const episodeIds = run.episodeIds.filter((id) => read.includes(id) || tooLong.includes(id));
  await finishRun(mutation, run, 'succeeded', {
    ...counts,
    episodeIds,
    episodeCount: episodeIds.length,
    outputDigest: await digestInput(mutation, given, preparation.items.some(isSecret)),
    refusedItems: maskReasons(mutation, [...preparation.refused, ...refused]),
    ...toColumns(details),
  });
}

function isSecret(item: PreparedItem): boolean {
  return 'values' in item && 'isSealed' in item.values && item.values.isSealed;
}

/** Masks reasons, because they may name what an engine made up: a field, a scope. */
function maskReasons({ context, report }: Mutation, refused: readonly RefusedItem[]): Prisma.JsonArray {
  const redactor = createRedactor(context);
  const masked = refused.map((item) => ({ ...item, reason: redactor.mask(item.reason) }));
  addOmissions(report, omissionsOf(redactor));
  return masked;
}
