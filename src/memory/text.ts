import { invalidInput } from '../shared/errors.ts';
import type { RedactedText, Redactor } from '../redaction/redactor.ts';

/** What is longer is cut: a memory is something to recall, and not a document. */
export const contentLimit = 20_000;
/** What is longer than this was not meant as a memory at all, and is refused. */
const contentRefusalLimit = 200_000;
const nameLimit = 200;

/**
 * The stored form of free text: no NUL (PostgreSQL refuses it), runs of blanks collapsed, without what must not be kept,
 * cut at the limit between code points. Blank text is refused: there is nothing to remember in it. So is a whole book, and
 * text that is broken.
 */
export function normaliseContent(redactor: Redactor, field: string, given: string): RedactedText {
  if (given.length > contentRefusalLimit) {
    throw invalidInput(
      field,
      `text of at most ${contentRefusalLimit} characters`,
      given,
      'Store its parts, or what matters in it.',
    );
  }
  const text = storable(field, given)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
  if (text === '') throw invalidInput(field, 'text that is not blank', given);
  // In this order: half of a key at the limit would not be known for one.
  return redactor.cut(field, redactor.redact(field, text), contentLimit);
}

/**
 * Without NUL, which PostgreSQL refuses and which says nothing. Half of a surrogate pair is what is left of a character
 * that somebody cut through: put another in its place, and what is kept is not what was said. It is refused.
 */
export function storable(field: string, given: string): string {
  if (!given.isWellFormed()) {
    throw invalidInput(field, 'text without half a character (a lone UTF-16 surrogate)', given);
  }
  return given.replaceAll('\0', '');
}

/** For what is only looked for, and need not be found: without what PostgreSQL refuses in text. */
export function searchable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** A short label such as a butler's name or a scope: one line, as given but for blanks around it. */
export function normaliseName(field: string, given: string): string {
  const name = given.trim();
  const isPrintable = name !== '' && name.isWellFormed() && !/\p{Cc}/u.test(name);
  if (!isPrintable || name.length > nameLimit) {
    throw invalidInput(field, `1 to ${nameLimit} printable characters`, given);
  }
  return name;
}

/** A name that stands for something: who else sends it means the same, so it is kept as it is or not at all. */
export function normaliseKey(redactor: Redactor, field: string, given: string): RedactedText {
  return redactor.requireClean(field, normaliseName(field, given));
}

/** A name that says something, such as what a fact is about. */
export function normaliseLabel(redactor: Redactor, field: string, given: string): RedactedText {
  return redactor.redact(field, normaliseName(field, given));
}

const letter = String.raw`[\p{L}\p{N}\p{M}_]`;

/** Scripts that put no space between words: where one ends cannot be told from the letters around it. */
const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;

/** Beside these at its edge, another letter would make another word of it. */
const startsInWord = new RegExp(`^(?!${unspaced})${letter}`, 'u');
const endsInWord = new RegExp(`(?!${unspaced})${letter}$`, 'u');

/** Whether a text has these words, whatever their case, and not only as a part of others: "call" does not have "Al". */
export function hasWords(text: string, words: string): boolean {
  const trimmed = words.trim();
  if (trimmed === '') return false;
  const before = startsInWord.test(trimmed) ? `(?<!${letter})` : '';
  const after = endsInWord.test(trimmed) ? `(?!${letter})` : '';
  const escaped = trimmed.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return new RegExp(`${before}${escaped}${after}`, 'iu').test(text);
}
