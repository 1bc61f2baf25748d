import { v7 as uuidv7 } from 'uuid';
import { insertReview, lockOpenReviewsOf, updateReview, type LockedReview } from '../../db/queries/reviews.ts';
import type { Review } from '../../generated/prisma/client.ts';
import { nameActor, type MemoryContext } from '../context.ts';
import type { EventInput } from '../events.ts';
import type { Mutation } from '../mutation.ts';
import { authorize } from '../permissions.ts';

export type { Review };

export const reviewKinds = ['same_thing', 'note_change'] as const;
export type ReviewKind = (typeof reviewKinds)[number];

export const reviewStatuses = ['open', 'settled'] as const;
export type ReviewStatus = (typeof reviewStatuses)[number];

/** How a caller may settle an entry. */
export const settlements = ['keep_both', 'newer_supersedes', 'older_supersedes'] as const;
export type Settlement = (typeof settlements)[number];

/** `withdrawn`: the question is gone, because one of the two was forgotten or was superseded by a third. */
export type ReviewOutcome = Settlement | 'withdrawn';

export interface ReviewToOpen {
  kind: ReviewKind;
  /** The two facts, in any order. */
  factIds: readonly [string, string];
  /** What raised the question, in a word or two. Never text of a memory: it is neither redacted nor sealed. */
  reason: string;
  /** How likely the newer replaced the older, 0 to 1; left out where nobody estimated it. */
  likelihood?: number | undefined;
}

/**
 * Opens an entry of the review list about two facts, as a consequence of the mutation. Returns its id; null if the pair has
 * one already, also a settled one: what was decided is not asked again.
 */
export async function openReview(mutation: Mutation, review: ReviewToOpen): Promise<string | null> {
  const inserted = await insertReview(mutation.transaction, { ...review, id: uuidv7(), openedAt: mutation.now });
  if (inserted === null) return null;
  const { id, snapshot } = inserted;
  await mutation.consequence.record({
    eventType: 'review.opened',
    entityType: 'review',
    entityId: id,
    after: snapshot,
  });
  return id;
}

/** Closes the open entries of a fact that is no longer live. `successorId` is the fact that took its place, if one did. */
export async function settleReviewsOf(mutation: Mutation, factId: string, successorId?: string): Promise<void> {
  for (const review of await lockOpenReviewsOf(mutation.transaction, factId)) {
    await changeReview(mutation.consequence, review, 'review.settled', {
      status: 'settled',
      outcome: decideOutcome(review, successorId),
      settledBy: nameActor(mutation.context),
      settledAt: mutation.now,
    });
  }
}

function decideOutcome({ newerId, olderId }: LockedReview, successorId: string | undefined): ReviewOutcome {
  if (successorId === newerId) return 'newer_supersedes';
  return successorId === olderId ? 'older_supersedes' : 'withdrawn';
}

/** Changes a locked review, and records that. */
export async function changeReview(
  mutation: Mutation,
  { id, snapshot }: LockedReview,
  eventType: EventInput['eventType'],
  values: Partial<Review>,
  revertsEventId?: string,
): Promise<void> {
  const after = await updateReview(mutation.transaction, id, values);
  await mutation.record({
    eventType,
    entityType: 'review',
    entityId: id,
    before: snapshot,
    after,
    ...(revertsEventId !== undefined && { revertsEventId }),
  });
}

export interface ReviewFilter {
  status?: readonly ReviewStatus[] | null | undefined;
  kind?: readonly ReviewKind[] | null | undefined;
}

/** Lists reviews, the latest first. A butler sees those whose facts it sees. */
export async function listReviews(
  context: MemoryContext,
  { status, kind }: ReviewFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ reviews: Review[]; total: number }> {
  authorize(context, 'query reviews');
  const { tenantId } = context.principal;
  const where = {
    tenantId,
    status: { in: [...(status ?? ['open'])] },
    ...(kind != null && { kind: { in: [...kind] } }),
  };
  const { client } = context.db;
  const [reviews, total] = await Promise.all([
    client.review.findMany({ where, orderBy: [{ openedAt: 'desc' }, { id: 'desc' }], skip: offset, take: limit }),
    client.review.count({ where }),
  ]);
  return { reviews, total };
}
