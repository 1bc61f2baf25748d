import type { MemoryType } from '../../db/tables.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { MemoryLink } from '../../generated/prisma/client.ts';
import type { Mutation } from '../mutation.ts';

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
export async function createLink(mutation: Mutation, { source, target, relation }: NewLink): Promise<boolean> {
  if (source.type === target.type && source.id === target.id) {
    throw invalidInput('target', 'another memory than the source', `${target.type} ${target.id}`);
  }
  return insertLink(mutation, {
    tenantId: mutation.tenantId,
    sourceType: source.type,
    sourceId: source.id,
    targetType: target.type,
    targetId: target.id,
    relation,
    createdAt: mutation.now,
  });
}

/** False when it is there already. */
export async function insertLink(mutation: Mutation, link: MemoryLink, revertsEventId?: string): Promise<boolean> {
  const { count } = await mutation.transaction.memoryLink.createMany({ data: [link], skipDuplicates: true });
  if (count > 0) await recordLink(mutation, 'link.created', link, revertsEventId);
  return count > 0;
}

/** False when it is not there any more. */
export async function removeLink(mutation: Mutation, link: MemoryLink, revertsEventId?: string): Promise<boolean> {
  const { createdAt: _, ...key } = link;
  const { count } = await mutation.transaction.memoryLink.deleteMany({ where: key });
  if (count > 0) await recordLink(mutation, 'link.removed', link, revertsEventId);
  return count > 0;
}

async function recordLink(
  mutation: Mutation,
  eventType: 'link.created' | 'link.removed',
  link: MemoryLink,
  revertsEventId: string | undefined,
): Promise<void> {
  const kept = { ...link, createdAt: link.createdAt.toISOString() };
  await mutation.record({
    eventType,
    entityType: 'link',
    entityId: linkId(link),
    ...(revertsEventId !== undefined && { revertsEventId }),
    ...(eventType === 'link.created' ? { after: kept } : { before: kept }),
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

/** What is linked or cited must be there, or have been: a deleted episode is cited by its tombstone. */
export async function requireMemory(
  { transaction, tenantId }: Mutation,
  field: string,
  { type, id }: MemoryReference,
): Promise<void> {
  const [row] = await transaction.$queryRaw<{ exists: boolean }[]>`
    SELECT memory_exists(${tenantId}, ${type}, ${id}::uuid) AS exists`;
  if (row?.exists !== true) throw new MemoryError('NOT_FOUND', `${field}: ${type} ${id} is not there`);
}

export async function requireEpisode(mutation: Mutation, field: string, id: string | null): Promise<void> {
  if (id !== null) await requireMemory(mutation, field, { type: 'episode', id });
}
