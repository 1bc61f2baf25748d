import { lockMemory } from '../../db/queries/memories.ts';
import type { MemoryContext } from '../context.ts';
import { mutateOnce, type IdempotentRequest } from '../idempotency.ts';
import type { Memory, MemoryRow } from '../memories.ts';
import { changeMemory, type Mutation, type Written } from '../mutation.ts';
import { isPermittedOn } from '../permissions.ts';
import { onlyButlerOf } from '../reach.ts';
import { settleReviewsOf } from '../reviews/reviews.ts';
import { forgottenColumns, forgottenEvent } from './forgotten-columns.ts';
import { carryOut, lockPlanned, planHiding, type HidingPlan, type SentencesAbout } from './hide-spans.ts';

/** What is to be forgotten together. */
export interface Chosen {
  /** Facts and rules. */
  memories: readonly Memory[];
  /** What episodes say besides. */
  sentences: readonly SentencesAbout[];
}

export interface ForgetPlan extends HidingPlan {
  memories: readonly Memory[];
}

export async function planForgetting(context: MemoryContext, { memories, sentences }: Chosen): Promise<ForgetPlan> {
  return { ...(await planHiding(context, memories, sentences)), memories };
}

/**
 * Forgets several memories, and what episodes say of them, as one change: the first event is the cause of the others, so
 * that one undo brings all of them back. Leaves out what was forgotten or removed meanwhile.
 */
export async function forgetTogether(
  context: MemoryContext,
  { prepare, sources, ...request }: IdempotentRequest & { prepare: () => Promise<ForgetPlan>; sources: boolean },
): Promise<Written<string>> {
  return mutateOnce(
    context,
    request,
    async (mutation, plan) => {
      // The newest first: if only episodes change, the first event is of the one that is kept longest.
      const episodes = (await lockPlanned(mutation, plan)).toReversed();
      const next = causeThenConsequences(mutation);
      for (const { type, row } of plan.memories.toSorted((a, b) => (a.row.id < b.row.id ? -1 : 1))) {
        const reference = { type, id: row.id };
        const locked = await lockMemory(mutation.transaction, reference);
        if (locked === null || locked.validity === 'retracted') continue;
        await changeMemory(next(), reference, forgottenEvent(type), forgottenColumns(type, mutation.now));
        if (type === 'fact') await settleReviewsOf(mutation, row.id);
      }
      await carryOut(mutation, episodes, plan, next);
      if (sources) await forgetSources(mutation, episodes, plan);
      return mutation.eventId;
    },
    { prepare },
  );
}

/** Forgets the episodes of a plan that memories were learned from, as consequences of the mutation. */
export async function forgetSources(
  { consequence, now }: Mutation,
  episodes: readonly { id: string; isForgotten: boolean }[],
  { sourceIds }: HidingPlan,
): Promise<void> {
  for (const { id, isForgotten } of episodes) {
    if (isForgotten || !sourceIds.includes(id)) continue;
    await changeMemory(consequence, { type: 'episode', id }, 'episode.forgotten', { forgottenAt: now });
  }
}

/** Brings back the episodes of a plan that were forgotten with the memory, as consequences of the mutation. */
export async function restoreSources(
  { consequence }: Mutation,
  episodes: readonly { id: string; isForgotten: boolean }[],
  { sourceIds }: HidingPlan,
): Promise<void> {
  for (const { id, isForgotten } of episodes) {
    if (!isForgotten || !sourceIds.includes(id)) continue;
    await changeMemory(consequence, { type: 'episode', id }, 'episode.restored', { forgottenAt: null });
  }
}

/** Whether the caller may forget a memory that it sees. */
export function mayForget(context: MemoryContext, row: MemoryRow): boolean {
  const own = onlyButlerOf(context);
  const isOwn = own === null || ('scope' in row ? row.scope === own || row.sourceButler === own : row.butler === own);
  return isPermittedOn(context, 'mutation forgetMemory', isOwn);
}

function causeThenConsequences(mutation: Mutation): () => Mutation {
  let isFirst = true;
  return () => {
    const next = isFirst ? mutation : mutation.consequence;
    isFirst = false;
    return next;
  };
}
