import { createHash } from 'node:crypto';
import { asStored, type RedactedText } from '../../redaction/redactor.ts';

/** The subject of a note, and the predicate that readers see. */
export const noteName = 'note';

interface Named {
  subject: string;
  predicate: string;
}

/** Tells a note from other facts. The database says the same: `memory_is_note`. */
export function isNote({ subject, predicate }: Named): boolean {
  return subject === noteName && /(?:^|_)(?:[0-9a-f]{8}){1,2}$/.test(predicate);
}

/** Whether a caller means a note: its subject and predicate are those that readers see. */
export function namesNote({ subject, predicate }: Named): boolean {
  return [subject, predicate].every((name) => name.trim().toLowerCase() === noteName);
}

/** Tells a note about any subject, such as one that consolidation kept: its content is a sentence that names the subject. */
export function readsAsNote(fact: Named): boolean {
  return isNote(fact) || /^note_[0-9a-f]{16}$/.test(fact.predicate);
}

/** Returns the predicate as readers see it: that of a note ends in a digest, which says nothing to them. */
export function readablePredicate(fact: Named): string {
  return readsAsNote(fact) ? noteName : fact.predicate;
}

/** Makes the predicate of a note from a digest of its text: only the same text again has the same key. */
export function notePredicate(content: string, digest = sha256): RedactedText {
  return asStored(`${noteName}_${digest(content).slice(0, 16)}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
