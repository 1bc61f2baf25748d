/** Returns the words of a text in lower case. `pattern` is what makes a word in a text beyond ASCII. */
export function findWords(text: string, pattern = lettersMarksAndNumbers): string[] {
  const lower = text.toLowerCase();
  return lower.match(isAscii.test(lower) ? asciiWords : pattern) ?? [];
}

// Most texts are ASCII, and Unicode properties are slow to look up.
// oxlint-disable-next-line no-control-regex -- control characters are a part of ASCII
const isAscii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9]+/g;
const lettersMarksAndNumbers = /[\p{L}\p{M}\p{N}]+/gu;
