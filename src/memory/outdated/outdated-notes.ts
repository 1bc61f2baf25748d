import { readsAsNote } from '../facts/note-key.ts';
import { findSayings, readText, wordsOf, type CurrentFact, type ReadText, type SignedFact } from './says.ts';

/** A note, which says what it is about in a sentence. */
export interface SaidNote extends CurrentFact {
  observedAt: Date | null;
  createdAt: Date;
}

/** A note whose words were read once, to be compared with many facts. */
export type ReadNote<Note extends SaidNote = SaidNote> = Note & { text: ReadText };

export function readNote<Note extends SaidNote>(note: Note): ReadNote<Note> {
  return { ...note, text: readText(note.content) };
}

/** The subjects under which a sentence is noted that names nobody else. */
const nobodyElse = new Set(['user', 'note']);

/**
 * Tells whether a note says what does not hold any more and was said while it did. Stricter than for a sentence of an
 * episode, as all of the note is left out: a note about somebody else is not meant, and one word in common is not enough
 * unless it is a number or the fact is about the same.
 */
export function saysOutdated(note: ReadNote, fact: SignedFact & { endedAt: number | null }): boolean {
  if (!readsAsNote(note) || (note.observedAt ?? note.createdAt).getTime() > (fact.endedAt ?? 0)) return false;
  if (findSayings(note.text, fact).length === 0) return false;
  const { telling, topic } = fact.signs;
  const { words } = note.text;
  const hits = [...telling].filter((word) => words.has(word));
  // Nothing took the place of what was forgotten: all of its words tell it, and half of them are in other notes, too.
  if (fact.current.length === 0 && hits.length < 0.8 * telling.size) return false;
  const [subject, other] = [note.subject, fact.subject].map((name) => name.trim().toLowerCase());
  const isNamed = [...wordsOf(fact.subject)].every((word) => words.has(word));
  if (subject === other || (other !== 'user' && isNamed)) return true;
  if (!nobodyElse.has(subject ?? '')) return false;
  const isTold = hits.length > 1 || hits.some((word) => /\d/u.test(word)) || other === 'user';
  return isTold && [...topic].some((word) => words.has(word));
}

const former =
  /\b(?:original(?:ly)?|initial(?:ly)?|former(?:ly)?|previous(?:ly)?|at first|used to|no longer|was (?:first |once )?considered|had planned)\b/iu;

/** Tells whether a text is about what was before. */
export function isAboutFormer(text: string): boolean {
  return former.test(text);
}

/**
 * Tells whether a note gives what was before, of something of which another fact gives what holds: at least half of the
 * words of the smaller are in the other, leaving out numbers.
 */
export function isFormer(note: CurrentFact, facts: readonly CurrentFact[]): boolean {
  if (!readsAsNote(note) || !isAboutFormer(note.content)) return false;
  const said = topicOf(note);
  return facts.some((fact) => {
    if (fact === note || isAboutFormer(fact.content)) return false;
    const known = topicOf(fact);
    const common = [...said].filter((word) => known.has(word)).length;
    return common > 1 && common >= Math.min(said.size, known.size) / 2;
  });
}

/** The words of a fact that are no numbers, without those that only say that it is about what was before. */
function topicOf(fact: CurrentFact): Set<string> {
  const text = readsAsNote(fact) ? fact.content : `${fact.subject} ${fact.predicate} ${fact.content}`;
  return new Set([...wordsOf(text.replace(former, ' '))].filter((word) => !/\d/u.test(word)));
}
