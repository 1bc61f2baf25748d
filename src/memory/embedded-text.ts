import type { MemoryType } from '../db/tables.ts';
import { asStored, type RedactedText } from '../redaction/redactor.ts';
import { hiddenSpansOf, textToFind } from './forgetting/hidden-spans.ts';
import { embeddedText } from './facts/fact-values.ts';

/** The columns that the vector of a memory is made of. */
export interface TextColumns {
  content: string;
  subject: string | null;
  predicate: string | null;
  /** Of an episode. */
  hiddenSpans?: unknown;
}

/** What a write of this memory gave to the model. */
export function textOf(type: MemoryType, { content, subject, predicate, ...row }: TextColumns): RedactedText {
  if (type === 'episode') return asStored(textToFind(content, hiddenSpansOf(row)));
  const stored = { subject: asStored(subject ?? ''), predicate: asStored(predicate ?? ''), content: asStored(content) };
  return type === 'fact' ? embeddedText(stored) : stored.content;
}
