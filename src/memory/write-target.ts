import { lockMemory } from '../db/queries/memories.ts';
import { MemoryError } from '../shared/errors.ts';
import type { MemoryReference } from './links/links.ts';
import { notFound } from './memories.ts';
import type { Mutation } from './mutation.ts';
import { onlyButlerOf } from './reach.ts';

/** A write that names one memory. */
export interface MemoryWrite extends MemoryReference {
  idempotencyKey?: string | null | undefined;
}

/** Locks the row. `isOwn`: it is in the caller's own scope, or was stored in the caller's name. */
export async function lockForCaller(
  { context, transaction, now }: Mutation,
  reference: MemoryReference,
): Promise<{ validity: string; isOwn: boolean }> {
  const row = await lockMemory(transaction, reference);
  if (row === null || (row.expiresAt !== null && row.expiresAt <= now)) throw notFound(reference);
  const own = onlyButlerOf(context);
  return { validity: row.validity, isOwn: own === null || row.scope === own || row.sourceButler === own };
}

export function notLive({ type, id }: MemoryReference, validity: string): MemoryError {
  return new MemoryError('INVALID_TRANSITION', `${type} ${id} is ${validity}, and must be live for this`, {
    hint: validity === 'retracted' ? 'Restore it first.' : 'Store it anew if it is true again.',
  });
}
