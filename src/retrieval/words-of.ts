/** The words of a text, in lower case: by what one tells that two texts say the same. */
export function wordsOf(text: string, words = wordsWithMarks): string[] {
  const lower = text.toLowerCase();
  return lower.match(isAscii.test(lower) ? asciiWords : words) ?? [];
}

/** Most texts are, and the properties of Unicode are dear to look up. */
// oxlint-disable-next-line no-control-regex -- control characters are a part of ASCII
const isAscii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9]+/g;
const wordsWithMarks = /[\p{L}\p{M}\p{N}]+/gu;
