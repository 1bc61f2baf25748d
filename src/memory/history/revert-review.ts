import { lockReview } from '../../db/queries/reviews.ts';
import type { MemoryEvent } from '../../generated/prisma/client.ts';
import { nameActor } from '../context.ts';
import type { Mutation } from '../mutation.ts';
import { changeReview } from '../reviews/reviews.ts';
import { changedSince } from './event-graph.ts';
import { readPayload } from './snapshots.ts';

/**
 * Reverts the opening or settling of a review, and records that. One that went with its facts, or that changed since, is
 * left as it is, unless it is all that is to be undone.
 */
export async function revertReview(mutation: Mutation, event: MemoryEvent): Promise<void> {
  const { before, after } = readPayload(event);
  const review = await lockReview(mutation.transaction, event.entityId);
  if (review === null || review.status !== after?.['status'] || review.outcome !== after['outcome']) {
    if (event.causeEventId !== null) return;
    throw await changedSince(mutation, event, 'status');
  }
  // Withdraws one that the event opened.
  const settled = {
    status: 'settled',
    outcome: 'withdrawn',
    settled_by: nameActor(mutation.context),
    settled_at: mutation.now,
  };
  const { status, outcome, settled_by: settledBy, settled_at: settledAt } = before ?? settled;
  const values = { status, outcome, settledBy, settledAt } as Parameters<typeof changeReview>[3];
  await changeReview(mutation, review, 'review.undone', values, event.id);
}
