import { createHash } from 'node:crypto';
import { createRedactor } from '../../redaction/redactor.ts';
import type { MemoryContext } from '../context.ts';
import { storeEpisode } from '../episodes/episodes.ts';
import { storeFact } from './facts.ts';
import type { Generation } from '../generation.ts';
import type { MemoryRow } from '../memories.ts';
import { authorize } from '../permissions.ts';
import { normaliseContent } from '../text.ts';

export interface StoreNoteInput {
  content: string;
  tags?: readonly string[] | null | undefined;
  /** The generation it starts in. Default eden. */
  tier?: Generation | null | undefined;
  idempotencyKey?: string | null | undefined;
}

const noteSubject = 'note';

/** The short way to remember something: an episode, or for the later generations a fact about nothing in particular. */
export async function storeNote(context: MemoryContext, input: StoreNoteInput): Promise<MemoryRow> {
  authorize(context, 'mutation storeNote');
  const { tier, ...note } = input;
  // Does not count the findings: the write that stores the text counts them.
  const redactor = createRedactor({ config: context.config, principal: context.principal });
  if (tier === 'mid' || tier === 'long') {
    return storeFact(context, {
      ...note,
      subject: noteSubject,
      predicate: predicateOf(normaliseContent(redactor, 'content', note.content)),
      permanence: tier === 'long' ? 'stable' : 'standard',
    });
  }
  return storeEpisode(context, note);
}

/** Readable by its first words, and its own by a digest of all: only the same note again is the same key. */
function predicateOf(content: string): string {
  const words = content.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  return [...words.slice(0, 5).map((word) => Array.from(word).slice(0, 16).join('')), digest].join('_');
}
