import type { MemoryType } from '../db/sql/memory-snapshot.ts';
import { invalidInput, MemoryError } from '../errors.ts';
import type { MemoryLink } from '../generated/prisma/client.ts';
import type { Mutation } from './mutation.ts';

export const relations = ['derived_from', 'supports', 'contradicts', 'supersedes', 'related_to'] as const;
export type Relation = (typeof relations)[number];

export interface MemoryReference {
  type: MemoryType;
  id: string;
}

export interface NewLink {
  source: MemoryReference;
  target: MemoryReference;
  relation: Relation;
}

/** A pair may carry several relations, and each of them once: making a link that is there changes nothing. */
export async function createLink(mutation: Mutation, { source, target, relation }: NewLink): Promise<void> {
  if (source.type === target.type && source.id === target.id) {
    throw invalidInput('target', 'another memory than the source', `${target.type} ${target.id}`);
  }
  const { transaction, tenantId, now } = mutation;
  const link: MemoryLink = {
    tenantId,
    sourceType: source.type,
    sourceId: source.id,
    targetType: target.type,
    targetId: target.id,
    relation,
    createdAt: now,
  };
  const { count } = await transaction.memoryLink.createMany({ data: [link], skipDuplicates: true });
  if (count === 0) return;
  await mutation.record({
    eventType: 'link.created',
    entityType: 'link',
    entityId: linkId(link),
    after: { ...link, createdAt: now.toISOString() },
  });
}

export function linkId({ sourceType, sourceId, relation, targetType, targetId }: MemoryLink): string {
  return `${sourceType}:${sourceId} ${relation} ${targetType}:${targetId}`;
}

export async function linkToSource(
  mutation: Mutation,
  source: MemoryReference,
  sourceEpisodeId: string | null,
): Promise<void> {
  if (sourceEpisodeId === null) return;
  await createLink(mutation.consequence, {
    source,
    target: { type: 'episode', id: sourceEpisodeId },
    relation: 'derived_from',
  });
}

/** What a memory was learned from must be there, or have been: a deleted episode is cited by its tombstone. */
export async function requireEpisode(
  { transaction, tenantId }: Mutation,
  field: string,
  id: string | null,
): Promise<void> {
  if (id === null) return;
  const [row] = await transaction.$queryRaw<{ exists: boolean }[]>`
    SELECT memory_exists(${tenantId}, 'episode', ${id}::uuid) AS exists`;
  if (row?.exists !== true) throw new MemoryError('NOT_FOUND', `${field}: episode ${id} is not there`);
}
