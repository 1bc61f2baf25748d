import type { MemoryType } from '../db/sql/memory-snapshot.ts';
import { embeddedText } from './facts.ts';

/** The columns that the vector of a memory is made of. */
export interface TextColumns {
  content: string;
  subject: string | null;
  predicate: string | null;
}

/** What a write of this memory gives to the model. */
export function textOf(type: MemoryType, { content, subject, predicate }: TextColumns): string {
  return type === 'fact' ? embeddedText({ subject: subject ?? '', predicate: predicate ?? '', content }) : content;
}
