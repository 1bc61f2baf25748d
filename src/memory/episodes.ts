import { v7 as uuidv7 } from 'uuid';
import { validate as isUuid } from 'uuid';
import { insertEpisode } from '../db/sql/insert-episode.ts';
import { invalidInput, MemoryError } from '../errors.ts';
import type { Episode, Prisma } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { ensureEmbeddingVersion } from './embedding-versions.ts';
import { recordEvent } from './events.ts';
import { normaliseMetadata } from './metadata.ts';
import { normaliseContent, normaliseName } from './text.ts';

export type { Episode };

export interface StoreEpisodeInput {
  content: string;
  butler: string;
  sessionId?: string | null | undefined;
  importance?: number | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
}

const defaultImportance = 5;
const millisecondsPerDay = 86_400_000;

/** Append-only: the same text twice is two episodes. */
export async function storeEpisode(context: MemoryContext, input: StoreEpisodeInput): Promise<Episode> {
  const createdAt = context.now();
  const episode = {
    id: uuidv7(),
    butler: normaliseName('butler', input.butler),
    content: normaliseContent('content', input.content),
    sessionId: normaliseSessionId(input.sessionId),
    importance: checkImportance(input.importance ?? defaultImportance),
    metadata: normaliseMetadata('metadata', input.metadata ?? {}),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + context.config.memory.episodes.defaultTtlDays * millisecondsPerDay),
  };
  // Before the transaction: a model at work must not hold a connection.
  const [embedding] = await context.embedder.embed([episode.content]);
  if (embedding === undefined) throw new MemoryError('EMBEDDING_FAILED', 'the embedder gave no vector for the content');
  const { tenantId } = context.principal;
  return context.db.transaction(tenantId, async (transaction) => {
    const version = await ensureEmbeddingVersion(context, transaction);
    const requestId = context.requestContext.requestId;
    await transaction.$executeRaw(insertEpisode({ ...episode, tenantId, requestId, embedding, version }));
    const stored = await transaction.episode.findUniqueOrThrow({
      where: { tenantId_id: { tenantId, id: episode.id } },
    });
    await recordEvent(context, transaction, {
      eventType: 'episode.stored',
      entityType: 'episode',
      entityId: stored.id,
      after: { ...episode, createdAt: createdAt.toISOString(), expiresAt: episode.expiresAt.toISOString() },
    });
    return stored;
  });
}

export async function getEpisode(context: MemoryContext, id: string): Promise<Episode> {
  const { tenantId } = context.principal;
  if (!isUuid(id)) throw invalidInput('id', 'a UUID', id);
  const episode = await context.db.tenant(tenantId).episode.findFirst({
    where: { tenantId, id, ...isThere(context) },
  });
  if (episode === null) throw new MemoryError('NOT_FOUND', `episode ${id} is not there`);
  return episode;
}

/** Expired and forgotten ones are gone for every reader, even before a sweep removes them. */
export function isThere({ now }: Pick<MemoryContext, 'now'>): { forgottenAt: null; expiresAt: { gt: Date } } {
  return { forgottenAt: null, expiresAt: { gt: now() } };
}

/** A blank session is no session; anything else must be a UUID. */
function normaliseSessionId(given: string | null | undefined): string | null {
  const text = (given ?? '').trim();
  if (text === '') return null;
  if (!isUuid(text)) throw invalidInput('session_id', 'a UUID, or nothing', given);
  return text.toLowerCase();
}

function checkImportance(given: number): number {
  if (!(given >= 1 && given <= 10)) throw invalidInput('importance', 'a number from 1 to 10', given);
  return given;
}
