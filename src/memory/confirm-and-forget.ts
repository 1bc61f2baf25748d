import { lockFactKeys } from '../db/queries/facts.ts';
import { lockMemory, type Columns } from '../db/queries/memories.ts';
import { MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from './context.ts';
import { isLive } from './facts/fact-values.ts';
import { forgetSources, restoreSources } from './forgetting/forget-together.ts';
import { forgottenColumns, forgottenEvent } from './forgetting/forgotten-columns.ts';
import { listTakenSources } from './forgetting/report.ts';
import { carryOut, lockPlanned, planHiding, planShowing } from './forgetting/hide-spans.ts';
import { lockLiveFacts } from './facts/facts.ts';
import { chooseConfirmedAt, saidAt } from './facts/valid-time.ts';
import { mutateOnce } from './idempotency.ts';
import type { MemoryReference } from './links/links.ts';
import { findMemory, getMemory, notFound, type Memory } from './memories.ts';
import { changeMemory, mapWritten, type Mutation, type Written } from './mutation.ts';
import { authorize, authorizeTarget } from './permissions.ts';
import { onlyButlerOf } from './reach.ts';
import { settleReviewsOf } from './reviews/reviews.ts';
import { resolveReference } from './resolve-id.ts';

export interface MemoryWrite extends MemoryReference {
  idempotencyKey?: string | null | undefined;
}

export interface ForgetInput extends MemoryWrite {
  /** Forgets the episodes that it was learned from, too. */
  sources?: boolean | null | undefined;
}

/** Still true: decay starts anew, and what was fading is normal again at once. */
export async function confirmMemory(
  context: MemoryContext,
  { idempotencyKey, ...given }: MemoryWrite,
): Promise<Written<Memory>> {
  authorize(context, 'mutation confirmMemory');
  const reference = await resolveReference(context, given);
  const { type, id } = reference;
  if (type === 'episode') {
    throw new MemoryError(
      'INVALID_TRANSITION',
      'type must be fact or rule (got "episode", which happened and needs no proof)',
    );
  }
  const written = await mutateOnce(
    context,
    { operation: 'confirm', idempotencyKey, input: reference },
    async (mutation) => {
      const { validity } = await lockForCaller(mutation, reference);
      if (!isLive(validity)) throw notLive(reference, validity);
      await writeConfirmation(mutation, { type, id });
      return id;
    },
  );
  return mapWritten(written, () => getMemory(context, reference));
}

/**
 * The same within a mutation that is under way, of a memory that is known to be live: as of when that was said, by default
 * now. A confirmation never takes back a later one: it then writes only the other changes, if there are any. Returns whether
 * it wrote something.
 */
export async function writeConfirmation(
  mutation: Mutation,
  reference: { type: 'fact' | 'rule'; id: string },
  { said = mutation.now, ...changes }: Columns<'rule'> & { said?: Date | undefined } = {},
): Promise<boolean> {
  const row = await lockMemory(mutation.transaction, reference);
  const confirmed = chooseConfirmedAt(saidAt(said, mutation.now), row?.validFrom ?? null);
  const earlier = row?.lastConfirmedAt ?? confirmed;
  if (earlier > confirmed && Object.keys(changes).length === 0) return false;
  const columns = earlier > confirmed ? changes : { ...changes, validity: 'active', lastConfirmedAt: confirmed };
  await changeMemory(mutation, reference, `${reference.type}.confirmed`, columns);
  return true;
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

/** Locks the row. `isOwn`: it is in the caller's own scope, or was stored in the caller's name. */
async function lockForCaller(
  { context, transaction, now }: Mutation,
  reference: MemoryReference,
): Promise<{ validity: string; isOwn: boolean }> {
  const row = await lockMemory(transaction, reference);
  if (row === null || (row.expiresAt !== null && row.expiresAt <= now)) throw notFound(reference);
  const own = onlyButlerOf(context);
  return { validity: row.validity, isOwn: own === null || row.scope === own || row.sourceButler === own };
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

function notLive({ type, id }: MemoryReference, validity: string): MemoryError {
  return new MemoryError('INVALID_TRANSITION', `${type} ${id} is ${validity}, and must be live for this`, {
    hint: validity === 'retracted' ? 'Restore it first.' : 'Store it anew if it is true again.',
  });
}
