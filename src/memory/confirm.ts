import { lockMemory, type Columns } from '../db/queries/memories.ts';
import { MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from './context.ts';
import { isLive } from './facts/fact-values.ts';
import { chooseConfirmedAt, saidAt } from './facts/valid-time.ts';
import { mutateOnce } from './idempotency.ts';
import { getMemory, type Memory } from './memories.ts';
import { changeMemory, mapWritten, type Mutation, type Written } from './mutation.ts';
import { authorize } from './permissions.ts';
import { resolveReference } from './resolve-id.ts';
import { lockForCaller, notLive, type MemoryWrite } from './write-target.ts';

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
