import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../db/database.ts';
import { insertEpisodes, type NewEpisodeRow } from '../../db/sql/insert-episodes.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { Episode, Prisma } from '../../generated/prisma/client.ts';
import { createRedactor, omissionsOf, type Omissions } from '../../redaction/redactor.ts';
import { atPlace, atPlaceError } from '../at-place.ts';
import { atOneMoment, type MemoryContext } from '../context.ts';
import { embedAll, embedOne, vectorsOfOne, vectorsToWrite } from '../embed.ts';
import { doOnce } from '../idempotency.ts';
import { loadMemories, referenceKey } from '../memories.ts';
import { findMaintenanceSession, isMaintenanceSession, refuseMaintenanceMark } from './maintenance.ts';
import { normaliseMetadata } from '../metadata.ts';
import { createMutation, mutate, recordCreations, type Mutation } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { requireButler } from '../reach.ts';
import { endOfLife, retentionOf } from './retention.ts';
import { normaliseContent, normaliseKey } from '../text.ts';
import { checkDate, checkNumber, checkOptionalUuid, checkUuid, normaliseTags } from '../values.ts';

export type { Episode };

export interface StoreEpisodeInput {
  content: string;
  /** Default: the butler that the caller works for, else the one that the server is named after. */
  butler?: string | null | undefined;
  sessionId?: string | null | undefined;
  importance?: number | null | undefined;
  observedAt?: Date | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** Append-only: the same text twice is two episodes, unless an idempotency key says that it is one. */
export async function storeEpisode(context: MemoryContext, input: StoreEpisodeInput): Promise<Episode> {
  authorize(context, 'mutation storeEpisode');
  const values = normaliseEpisode(context, input);
  const embedded = await embedOne(context, values.content);
  const id = await mutate(context, async (mutation) => {
    const maintenance = await findMaintenanceSession(context, mutation.transaction, [values]);
    if (maintenance !== null) throw isMaintenanceSession(maintenance.sessionId);
    const embeddings = await vectorsOfOne(context, mutation.transaction, embedded);
    return appendEpisode(mutation, input, values, { embeddings });
  });
  const [episode] = await loadEpisodes(context, [id]);
  return episode as Episode;
}

/** Several that commit together. One text that is refused refuses them all, and is named by its place. */
export async function ingestEpisodes(caller: MemoryContext, inputs: readonly StoreEpisodeInput[]): Promise<Episode[]> {
  authorize(caller, 'mutation ingestEpisodes');
  if (inputs.length === 0 || inputs.length > batchLimit) {
    throw invalidInput('episodes', `1 to ${batchLimit} episodes`, inputs.length);
  }
  const episodes = inputs.map((input, place) => {
    const values = atPlace('episodes', place, () => normaliseEpisode(caller, input));
    return { place, input, values };
  });
  const embedded = await embedAll(
    caller,
    episodes.map(({ values }) => values.content),
  );
  const ids = await caller.db.transaction(async (transaction) => {
    const context = atOneMoment(caller);
    const observed = episodes.map(({ values }) => values);
    const maintenance = await findMaintenanceSession(context, transaction, observed);
    if (maintenance !== null) atPlaceError('episodes', maintenance.place)(isMaintenanceSession(maintenance.sessionId));
    const vectors = await vectorsToWrite(context, transaction, embedded);
    const vectorsOf = (place: number): Vectors => ({ embeddings: vectors[place] ?? [] });
    await appendAll(
      context,
      transaction,
      episodes
        .filter(({ input }) => !hasKey(input))
        .map(({ place, values }) => ({ values, vectors: vectorsOf(place) })),
    );
    const stored: string[] = [];
    for (const { place, input, values } of episodes) {
      if (!hasKey(input)) stored.push(values.id);
      else
        stored.push(
          await appendEpisode(createMutation(context, transaction), input, values, vectorsOf(place)).catch(
            atPlaceError('episodes', place),
          ),
        );
    }
    return stored;
  });
  return loadEpisodes(caller, ids);
}

/** In the order of the ids. One that a key stands for may have expired since. */
async function loadEpisodes(context: MemoryContext, ids: readonly string[]): Promise<Episode[]> {
  const references = ids.map((id) => ({ type: 'episode' as const, id }));
  const rows = await loadMemories(context, references);
  return references.map((reference) => {
    const row = rows.get(referenceKey(reference));
    if (row === undefined) throw new MemoryError('NOT_FOUND', `episode ${reference.id} is not there any more`);
    return row as Episode;
  });
}

/** Of one batch. More is no faster, and holds the database longer. */
export const batchLimit = 500;

type EpisodeValues = Omit<NewEpisodeRow, keyof WriteValues | 'embeddings'> & {
  omissions: Omissions;
};

function normaliseEpisode(context: MemoryContext, input: StoreEpisodeInput): EpisodeValues {
  const redactor = createRedactor(context);
  const metadata = normaliseMetadata(redactor, 'metadata', input.metadata ?? {});
  refuseMaintenanceMark({ metadata });
  return {
    id: uuidv7(),
    butler: requireButler(context, normaliseKey(redactor, 'butler', input.butler ?? defaultButlerOf(context))),
    content: normaliseContent(redactor, 'content', input.content),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    importance: checkNumber('importance', input.importance ?? 5, 1, 10),
    observedAt: checkDate('observed_at', input.observedAt),
    tags: normaliseTags(redactor, input.tags),
    metadata,
    language: context.config.memory.retrieval.language,
    omissions: omissionsOf(redactor),
  };
}

function defaultButlerOf({ principal, config }: MemoryContext): string {
  return principal.butler ?? config.butler.name;
}

type WriteValues = Pick<NewEpisodeRow, 'tenantId' | 'requestId' | 'createdAt' | 'expiresAt'>;

/** The columns that follow from the write and not from what was given. */
function valuesOfWrite(context: MemoryContext): WriteValues {
  const createdAt = context.now();
  const { defaultTtlDays } = context.config.memory.episodes;
  return {
    tenantId: context.principal.tenantId,
    requestId: context.requestContext.requestId,
    createdAt,
    expiresAt: endOfLife(createdAt, defaultTtlDays, retentionOf(context).episodes),
  };
}

type Vectors = Pick<NewEpisodeRow, 'embeddings'>;

function hasKey({ idempotencyKey }: StoreEpisodeInput): boolean {
  return idempotencyKey !== null && idempotencyKey !== undefined;
}

/** In three statements, however many there are. */
async function appendAll(
  context: MemoryContext,
  transaction: Transaction,
  episodes: readonly { values: EpisodeValues; vectors: Vectors }[],
): Promise<void> {
  const ofWrite = valuesOfWrite(context);
  const [first, ...others] = episodes.map(({ values, vectors }) => ({ ...values, ...vectors, ...ofWrite }));
  if (first === undefined) return;
  const rows = [first, ...others] as const;
  await transaction.$executeRaw(insertEpisodes(rows));
  await recordCreations(
    context,
    transaction,
    'episode',
    episodes.map(({ values: { id, omissions } }) => ({ id, omissions })),
  );
}

async function appendEpisode(
  mutation: Mutation,
  { idempotencyKey, ...input }: StoreEpisodeInput,
  values: EpisodeValues,
  vectors: Vectors,
): Promise<string> {
  return doOnce(mutation, { operation: 'storeEpisode', idempotencyKey, input }, async () => {
    const { transaction, context } = mutation;
    await transaction.$executeRaw(insertEpisodes([{ ...values, ...vectors, ...valuesOfWrite(context) }]));
    await mutation.recordCreation({ type: 'episode', id: values.id }, 'episode.stored', values.omissions);
    return values.id;
  });
}

export async function findEpisode(context: MemoryContext, id: string): Promise<Episode | null> {
  const { tenantId } = context.principal;
  return context.db.client.episode.findFirst({
    where: { tenantId, id: checkUuid('id', id), ...isThere(context) },
  });
}

/** Expired and forgotten ones are gone for every reader, even before a sweep removes them. */
export function isThere({ now }: Pick<MemoryContext, 'now'>): { forgottenAt: null; expiresAt: { gt: Date } } {
  return { forgottenAt: null, expiresAt: { gt: now() } };
}
