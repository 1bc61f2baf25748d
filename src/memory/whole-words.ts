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
