/**
 * The text of a memory, which anyone may have written, as it may stand in a block that a model reads:
 * - it is one line: line breaks and control characters become blanks, so that it cannot end its item or its section;
 * - what nobody sees is taken out: characters that turn the reading direction, that have no width, or that spell ASCII
 *   invisibly. Joiners, which scripts and emoji need, stay;
 * - a backslash stands before each of \ [ ] < > | `, so that it cannot write the annotations that we write in brackets,
 *   tags, links, images, code fences or the control tokens of a chat (`<|…|>`, `[INST]`).
 * All but the first two can be read back, by taking each backslash away.
 */
export function inertText(text: string): string {
  if (!needsCare.test(text)) return text.trim();
  return text
    .replace(/[\u200B\u2060\uFEFF\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]/gu, '')
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .replace(/[\\[\]<>|`]/g, String.raw`\$&`);
}

/** Anything but ASCII, a blank beside another or a sign that takes a backslash: most texts have none of it. */
const needsCare = /[^ -~]| {2}|[\\[\]<>|`]/;
