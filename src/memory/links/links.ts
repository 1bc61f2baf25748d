import type { EventRow } from '../../db/queries/events.ts';
import { deleteLink, insertLink as insert } from '../../db/queries/links.ts';
import { hasMemory } from '../../db/queries/memories.ts';
import type { MemoryType } from '../../db/tables.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { MemoryLink } from '../../generated/prisma/client.ts';
import type { Mutation } from '../mutation.ts';
import type { Span } from '../spans.ts';

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
  /** Where in the text of the episode at one of its ends it says so; none for other links. */
  spans?: readonly Span[];
}

/** A pair may carry several relations, and each of them once: making a link that is there changes nothing. */
export async function createLink(
  mutation: Mutation,
  { source, target, relation, spans = [] }: NewLink,
): Promise<boolean> {
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
    spans: spans.map(([start, end]) => [start, end]),
    createdAt: mutation.now,
  });
}

/** Returns false when it is there already. */
export async function insertLink(mutation: Mutation, link: MemoryLink, revertsEventId?: string): Promise<boolean> {
  return insert(mutation.transaction, link, toLinkEvent(mutation, 'link.created', link, revertsEventId));
}

/** Returns false when it is not there any more. */
export async function removeLink(mutation: Mutation, link: MemoryLink, revertsEventId?: string): Promise<boolean> {
  return deleteLink(mutation.transaction, link, toLinkEvent(mutation, 'link.removed', link, revertsEventId));
}

function toLinkEvent(
  mutation: Mutation,
  eventType: 'link.created' | 'link.removed',
  link: MemoryLink,
  revertsEventId: string | undefined,
): EventRow {
  const kept = { ...link, createdAt: link.createdAt.toISOString() };
  return mutation.toEventRow({
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
  spans: readonly Span[] = [],
): Promise<void> {
  if (sourceEpisodeId === null) return;
  await createLink(mutation.consequence, {
    source,
    target: { type: 'episode', id: sourceEpisodeId },
    relation: 'derived_from',
    spans,
  });
}

/** Throws NOT_FOUND unless what is linked or cited is there, or was: a deleted episode is cited by its tombstone. */
export async function requireMemory({ transaction }: Mutation, field: string, memory: MemoryReference): Promise<void> {
  const { type, id } = memory;
  if (!(await hasMemory(transaction, memory)))
    throw new MemoryError('NOT_FOUND', `${field}: ${type} ${id} is not there`);
}

export async function requireEpisode(mutation: Mutation, field: string, id: string | null): Promise<void> {
  if (id !== null) await requireMemory(mutation, field, { type: 'episode', id });
}
