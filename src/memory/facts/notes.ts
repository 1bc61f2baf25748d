import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { storeEpisode } from '../episodes/episodes.ts';
import type { Generation } from '../generation.ts';
import type { MemoryRow } from '../memories.ts';
import type { Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { globalScope } from '../values.ts';
import { storeFact } from './facts.ts';
import { noteName } from './note-key.ts';

export interface StoreNoteInput {
  content: string;
  tags?: readonly string[] | null | undefined;
  /** The generation it starts in. Default mid. */
  tier?: Generation | null | undefined;
  /** A live fact that the note replaces. Not for an episode. */
  supersedes?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/**
 * Remembers a text with no more said about it: as a note in the caller's own scope, or for the tier eden as an episode.
 * The same note again confirms the first.
 */
export async function storeNote(context: MemoryContext, input: StoreNoteInput): Promise<Written<MemoryRow>> {
  authorize(context, 'mutation storeNote');
  const { tier, supersedes, ...note } = input;
  if (tier === 'eden') {
    if (supersedes != null)
      throw invalidInput('supersedes', 'left out for tier "eden": an episode replaces nothing', supersedes);
    return storeEpisode(context, note);
  }
  return storeFact(context, {
    ...note,
    supersedes,
    subject: noteName,
    predicate: noteName,
    scope: context.principal.butler ?? globalScope,
    // Without a tier, a note that is known keeps the permanence that it has.
    permanence: tier == null ? null : tier === 'long' ? 'stable' : 'standard',
  });
}
