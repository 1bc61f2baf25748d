import { maskFor } from '../forgetting/hidden-spans.ts';
import { v7 as uuidv7 } from 'uuid';
import { insertMemories, type NewMemory } from '../../db/queries/memories.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { Episode, Prisma } from '../../generated/prisma/client.ts';
import { createRedactor, omissionsOf, type Omissions, type RedactedText } from '../../redaction/redactor.ts';
import { atPlace, atPlaceError } from '../at-place.ts';
import { atOneMoment, type MemoryContext } from '../context.ts';
import { embedAll, embedOne, vectorsOfOne, vectorsToWrite } from '../embed.ts';
import { doOnce, findEarlierAnswer, type IdempotentRequest } from '../idempotency.ts';
import { loadMemories, referenceKey } from '../memories.ts';
import { findMaintenanceSession, isMaintenanceSession, refuseMaintenanceMark } from './maintenance.ts';
import { normaliseMetadata, type KeptMetadata } from '../metadata.ts';
import {
  addOmissions,
  createMutation,
  createReport,
  mapWritten,
  mutate,
  type Mutation,
  type WriteReport,
  type Written,
} from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { requireButler } from '../reach.ts';
import { endOfLife, retentionOf } from './retention.ts';
import { normaliseSegments, type Segment, type SegmentInput } from './segments.ts';
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
  segments?: readonly SegmentInput[] | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** Append-only: the same text twice is two episodes, unless an idempotency key says that it is one. */
export async function storeEpisode(context: MemoryContext, input: StoreEpisodeInput): Promise<Written<Episode>> {
  authorize(context, 'mutation storeEpisode');
  const values = normaliseEpisode(context, input);
  const written = (await findEarlierAnswer(context, toRequest(input))) ?? (await storeNew(context, input, values));
  return mapWritten(written, async (id) => (await loadEpisodes(context, [id]))[0] as Episode);
}

async function storeNew(
  context: MemoryContext,
  input: StoreEpisodeInput,
  values: EpisodeValues,
): Promise<Written<string>> {
  const embedded = await embedOne(context, values.content);
  return mutate(context, async (mutation) => {
    const maintenance = await findMaintenanceSession(context, mutation.transaction, [values]);
    if (maintenance !== null) throw isMaintenanceSession(maintenance.sessionId);
    const embeddings = await vectorsOfOne(context, mutation.transaction, embedded);
    return appendEpisode(mutation, input, () => toNewEpisode(mutation, values, embeddings));
  });
}

function toRequest({ idempotencyKey, ...input }: StoreEpisodeInput): IdempotentRequest {
  return { operation: 'storeEpisode', idempotencyKey, input };
}

/** Several that commit together. One text that is refused refuses them all, and is named by its place. */
export async function ingestEpisodes(
  caller: MemoryContext,
  inputs: readonly StoreEpisodeInput[],
): Promise<Written<Episode[]>> {
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
  const stored = await caller.db.transaction(async (transaction) => {
    const context = atOneMoment(caller);
    const observed = episodes.map(({ values }) => values);
    const maintenance = await findMaintenanceSession(context, transaction, observed);
    if (maintenance !== null) atPlaceError('episodes', maintenance.place)(isMaintenanceSession(maintenance.sessionId));
    const vectors = await vectorsToWrite(context, transaction, embedded);
    const writes = episodes.map((episode) => ({ ...episode, mutation: createMutation(context, transaction) }));
    const describe = ({ mutation, place, values }: (typeof writes)[number]): NewEpisode =>
      toNewEpisode(mutation, values, vectors[place] ?? []);
    const plain = writes.filter(({ input }) => !hasKey(input));
    await insertMemories(transaction, 'episode', plain.map(describe));
    const written: Written<string>[] = [];
    for (const write of writes) {
      const { mutation, place, input, values } = write;
      const value = hasKey(input)
        ? await appendEpisode(mutation, input, () => describe(write)).catch(atPlaceError('episodes', place))
        : values.id;
      written.push({ ...mutation.report, value });
    }
    return written;
  });
  const episodeRows = await loadEpisodes(
    caller,
    stored.map(({ value }) => value),
  );
  return { ...joinReports(stored), value: episodeRows };
}

/** Reports several writes as one. The event is that of the first. */
function joinReports(reports: readonly WriteReport[]): WriteReport {
  const joined = createReport();
  for (const report of reports) addOmissions(joined, report);
  return { ...joined, eventId: reports.find(({ eventId }) => eventId !== null)?.eventId ?? null };
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

type NewEpisode = NewMemory<'episode'>;

interface EpisodeValues {
  id: string;
  butler: string;
  sessionId: string | null;
  content: RedactedText;
  importance: number;
  observedAt: Date | null;
  tags: RedactedText[];
  metadata: KeptMetadata;
  segments: Segment<RedactedText>[];
  /** Language of the stemmer for its words. */
  language: string;
  omissions: Omissions;
}

function normaliseEpisode(context: MemoryContext, input: StoreEpisodeInput): EpisodeValues {
  const redactor = createRedactor(context);
  const metadata = normaliseMetadata(redactor, 'metadata', input.metadata ?? {});
  refuseMaintenanceMark({ metadata });
  return {
    id: uuidv7(),
    butler: requireButler(context, normaliseKey(redactor, 'butler', input.butler ?? chooseButler(context))),
    content: normaliseContent(redactor, 'content', input.content),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    importance: checkNumber('importance', input.importance ?? 5, 1, 10),
    observedAt: checkDate('observed_at', input.observedAt),
    tags: normaliseTags(redactor, input.tags),
    metadata,
    segments: normaliseSegments(redactor, input.segments),
    language: context.config.memory.retrieval.language,
    omissions: omissionsOf(redactor),
  };
}

function chooseButler({ principal, config }: MemoryContext): string {
  return principal.butler ?? config.butler.name;
}

function toNewEpisode(
  mutation: Mutation,
  { omissions, ...values }: EpisodeValues,
  embeddings: NewEpisode['embeddings'],
): NewEpisode {
  const { context, now: createdAt } = mutation;
  const { defaultTtlDays } = context.config.memory.episodes;
  const expiresAt = endOfLife(createdAt, defaultTtlDays, retentionOf(context).episodes);
  return {
    columns: { ...values, requestId: context.requestContext.requestId, createdAt, expiresAt },
    embeddings,
    event: mutation.toEventRow({ eventType: 'episode.stored', entityType: 'episode', entityId: values.id, omissions }),
  };
}

function hasKey({ idempotencyKey }: StoreEpisodeInput): boolean {
  return idempotencyKey !== null && idempotencyKey !== undefined;
}

async function appendEpisode(
  mutation: Mutation,
  input: StoreEpisodeInput,
  describe: () => NewEpisode,
): Promise<string> {
  return doOnce(mutation, toRequest(input), async () => {
    const episode = describe();
    await insertMemories(mutation.transaction, 'episode', [episode]);
    return episode.columns.id;
  });
}

export async function findEpisode(context: MemoryContext, id: string): Promise<Episode | null> {
  const { tenantId } = context.principal;
  const where = { tenantId, id: checkUuid('id', id), ...isThere(context) };
  const episode = await context.db.client.episode.findFirst({ where });
  return episode === null ? null : maskFor(context, episode);
}

/** Expired and forgotten ones are gone for every reader, even before a sweep removes them. */
export function isThere({ now }: Pick<MemoryContext, 'now'>): { forgottenAt: null; expiresAt: { gt: Date } } {
  return { forgottenAt: null, expiresAt: { gt: now() } };
}
