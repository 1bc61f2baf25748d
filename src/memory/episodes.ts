import { v7 as uuidv7 } from 'uuid';
import { insertEpisode } from '../db/sql/insert-episode.ts';
import { millisecondsPerDay } from '../durations.ts';
import { MemoryError } from '../errors.ts';
import type { Episode, Prisma } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { embedOne } from './embed.ts';
import { ensureEmbeddingVersion } from './embedding-versions.ts';
import { mutateOnce } from './idempotency.ts';
import { normaliseMetadata } from './metadata.ts';
import { recordCreation } from './mutation.ts';
import { normaliseContent, normaliseName } from './text.ts';
import { checkDate, checkNumber, checkOptionalUuid, checkUuid, normaliseTags } from './values.ts';

export type { Episode };

export interface StoreEpisodeInput {
  content: string;
  butler: string;
  sessionId?: string | null | undefined;
  importance?: number | null | undefined;
  observedAt?: Date | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** Append-only: the same text twice is two episodes, unless an idempotency key says that it is one. */
export async function storeEpisode(context: MemoryContext, input: StoreEpisodeInput): Promise<Episode> {
  const createdAt = context.now();
  const episode = {
    id: uuidv7(),
    butler: normaliseName('butler', input.butler),
    content: normaliseContent('content', input.content),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    importance: checkNumber('importance', input.importance ?? 5, 1, 10),
    observedAt: checkDate('observed_at', input.observedAt),
    tags: normaliseTags(input.tags),
    metadata: normaliseMetadata('metadata', input.metadata ?? {}),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + context.config.memory.episodes.defaultTtlDays * millisecondsPerDay),
  };
  const embedding = await embedOne(context, episode.content);
  const { tenantId } = context.principal;
  const { idempotencyKey, ...rest } = input;
  const id = await mutateOnce(context, { operation: 'storeEpisode', idempotencyKey, input: rest }, async (mutation) => {
    const version = await ensureEmbeddingVersion(context, mutation.transaction);
    const { requestId } = context.requestContext;
    await mutation.transaction.$executeRaw(insertEpisode({ ...episode, tenantId, requestId, embedding, version }));
    await recordCreation(mutation, { type: 'episode', id: episode.id }, 'episode.stored');
    return episode.id;
  });
  return context.db.tenant(tenantId).episode.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
}

export async function getEpisode(context: MemoryContext, id: string): Promise<Episode> {
  const { tenantId } = context.principal;
  const episode = await context.db.tenant(tenantId).episode.findFirst({
    where: { tenantId, id: checkUuid('id', id), ...isThere(context) },
  });
  if (episode === null) throw new MemoryError('NOT_FOUND', `episode ${id} is not there`);
  return episode;
}

/** Expired and forgotten ones are gone for every reader, even before a sweep removes them. */
export function isThere({ now }: Pick<MemoryContext, 'now'>): { forgottenAt: null; expiresAt: { gt: Date } } {
  return { forgottenAt: null, expiresAt: { gt: now() } };
}
