import { lockFactKeys } from '../../db/queries/facts.ts';
import { lockReview, type LockedReview } from '../../db/queries/reviews.ts';
import type { StoredFact } from '../../db/stored-fact.ts';
import { MemoryError } from '../../shared/errors.ts';
import { nameActor, type MemoryContext } from '../context.ts';
import { isLive } from '../facts/fact-values.ts';
import { authorizeReplacement, replaceFact } from '../facts/replace-fact.ts';
import { mutateOnce } from '../idempotency.ts';
import { mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { checkOneOf, checkUuid } from '../values.ts';
import { changeReview, settleReviewsOf, settlements, type Review, type Settlement } from './reviews.ts';

export interface SettleReviewInput {
  id: string;
  outcome: string;
  idempotencyKey?: string | null | undefined;
}

/** Settles an entry of the review list: both facts stay, or one of them is superseded by the other. */
export async function settleReview(context: MemoryContext, input: SettleReviewInput): Promise<Written<Review>> {
  authorize(context, 'mutation settleReview');
  const { tenantId } = context.principal;
  const id = checkUuid('id', input.id);
  const outcome = checkOneOf('outcome', input.outcome, settlements);
  const request = { operation: 'settleReview', idempotencyKey: input.idempotencyKey, input: { id, outcome } };
  const written = await mutateOnce(context, request, async (mutation) => {
    await settle(mutation, id, outcome);
    return id;
  });
  const where = { tenantId_id: { tenantId, id } };
  return mapWritten(written, () => context.db.client.review.findUniqueOrThrow({ where }));
}

async function settle(mutation: Mutation, id: string, outcome: Settlement): Promise<void> {
  const { transaction, context, now } = mutation;
  const { newerId, olderId } = await getReview(mutation, id);
  // Locks keys before rows, as storing a fact does.
  await lockFactKeys(transaction, { factIds: [newerId, olderId] });
  const review = await lockReview(transaction, id);
  if (review === null) throw notFound(id);
  if (review.status !== 'open') {
    throw new MemoryError('INVALID_TRANSITION', `review ${id} is settled already, as ${review.outcome}`, {
      hint: 'Undo the event that settled it to open it again.',
    });
  }
  const values = { status: 'settled', outcome, settledBy: nameActor(context), settledAt: now };
  await changeReview(mutation, review, 'review.settled', values);
  if (outcome !== 'keep_both') await supersedeOther(mutation, review, outcome);
}

async function getReview({ transaction, tenantId }: Mutation, id: string): Promise<Review> {
  const review = await transaction.review.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (review === null) throw notFound(id);
  return review;
}

async function supersedeOther(
  mutation: Mutation,
  { newerId, olderId }: LockedReview,
  outcome: Exclude<Settlement, 'keep_both'>,
): Promise<void> {
  const [successorId, supersededId] = outcome === 'newer_supersedes' ? [newerId, olderId] : [olderId, newerId];
  const successor = await getLive(mutation, successorId);
  const superseded = await getLive(mutation, supersededId);
  authorizeReplacement(mutation.context, superseded, successor);
  await replaceFact(mutation.consequence, superseded, successor);
  await settleReviewsOf(mutation, supersededId, successorId);
}

async function getLive({ transaction, tenantId }: Mutation, id: string): Promise<StoredFact> {
  const fact = await transaction.fact.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  if (isLive(fact.validity)) return fact;
  throw new MemoryError('INVALID_TRANSITION', `fact ${id} is ${fact.validity}, and must be live for this`);
}

function notFound(id: string): MemoryError {
  return new MemoryError('NOT_FOUND', `review ${id} is not there`);
}
