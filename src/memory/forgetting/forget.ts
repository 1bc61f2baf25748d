import { lockFactKeys } from '../../db/queries/facts.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { lockLiveFacts } from '../facts/facts.ts';
import { mutateOnce } from '../idempotency.ts';
import type { MemoryReference } from '../links/links.ts';
import { findMemory, getMemory, type Memory } from '../memories.ts';
import { changeMemory, mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize, authorizeTarget } from '../permissions.ts';
import { settleReviewsOf } from '../reviews/reviews.ts';
import { resolveReference } from '../resolve-id.ts';
import { lockForCaller, notLive, type MemoryWrite } from '../write-target.ts';
import { forgetSources, restoreSources } from './forget-together.ts';
import { forgottenColumns, forgottenEvent } from './forgotten-columns.ts';
import { carryOut, lockPlanned, planHiding, planShowing } from './hide-spans.ts';
import { listTakenSources } from './report.ts';

export interface ForgetInput extends MemoryWrite {
  /** Forgets the episodes that it was learned from, too. */
  sources?: boolean | null | undefined;
}

/**
 * Takes a memory out of every search, context, count and consolidation; `restoreMemory` brings it back. Of a fact or rule,
 * hides what episodes say of it.
 */
export async function forgetMemory(
  context: MemoryContext,
  { idempotencyKey, sources, ...given }: ForgetInput,
): Promise<Written<Memory>> {
  authorize(context, 'mutation forgetMemory');
  const reference = await resolveReference(context, given);
  const { type, id } = reference;
  const written = await mutateOnce(
    context,
    { operation: 'forget', idempotencyKey, input: { ...reference, ...(sources === true && { sources }) } },
    async (mutation, plan) => {
      const episodes = await lockPlanned(mutation, plan);
      const { validity, isOwn } = await lockForCaller(mutation, reference);
      authorizeTarget(context, 'mutation forgetMemory', { name: `${type} ${id}`, isOwn });
      if (validity === 'retracted') throw notLive(reference, validity);
      await changeMemory(mutation, reference, forgottenEvent(type), forgottenColumns(type, mutation.now));
      if (type === 'fact') await settleReviewsOf(mutation, id);
      await carryOut(mutation, episodes, plan);
      if (sources === true) await forgetSources(mutation, episodes, plan);
      return id;
    },
    { prepare: async () => planHiding(context, await listKnown(context, reference)) },
  );
  return mapWritten(written, () => getMemory(context, reference));
}

/** A fact comes back as active, unless its key has a live one by now; that one would have to go first. */
export async function restoreMemory(
  context: MemoryContext,
  { idempotencyKey, ...given }: MemoryWrite,
): Promise<Written<Memory>> {
  authorize(context, 'mutation restoreMemory');
  const reference = await resolveReference(context, given);
  const { type, id } = reference;
  const written = await mutateOnce(
    context,
    { operation: 'restore', idempotencyKey, input: reference },
    async (mutation, plan) => {
      const episodes = await lockPlanned(mutation, plan);
      if (type === 'fact') await lockFactKeys(mutation.transaction, { factIds: [id] });
      const { validity, isOwn } = await lockForCaller(mutation, reference);
      authorizeTarget(context, 'mutation restoreMemory', { name: `${type} ${id}`, isOwn });
      if (validity !== 'retracted') {
        throw new MemoryError(
          'INVALID_TRANSITION',
          `${type} ${id} is ${validity}: only what was forgotten can be restored`,
        );
      }
      if (type === 'fact') await refuseSecondLiveFact(mutation, id);
      await changeMemory(mutation, reference, `${type}.restored`, forgottenColumns(type, null));
      await carryOut(mutation, episodes, plan);
      await restoreSources(mutation, episodes, plan);
      return id;
    },
    { prepare: async () => planShowing(context, [id], await listTakenSources(context, reference)) },
  );
  return mapWritten(written, () => getMemory(context, reference));
}

/** None where it is gone: the write says so. */
async function listKnown(context: MemoryContext, reference: MemoryReference): Promise<Memory[]> {
  const memory = await findMemory(context, reference);
  return memory === null ? [] : [memory];
}

export async function refuseSecondLiveFact(mutation: Mutation, id: string): Promise<void> {
  const { transaction, tenantId } = mutation;
  const fact = await transaction.fact.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  const facts = await lockLiveFacts(transaction, fact);
  const live = facts.find(({ valueKey, setAside }) => valueKey === fact.valueKey && !setAside);
  if (live === undefined || fact.setAside) return;
  throw new MemoryError('CONFLICT', `fact ${id} cannot be restored: fact ${live.id} took its place`, {
    hint: `Forget fact ${live.id} first.`,
  });
}
