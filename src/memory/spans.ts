/**
 * A part of a text: the offsets of its first character and of the one after its last. Characters are Unicode code points,
 * as the database and most languages count them; JavaScript counts some as two.
 */
export type Span = readonly [start: number, end: number];

/** Returns every place where a text says a quote, in order. Blanks and the form of quotation marks may differ. */
export function findQuote(text: string, quote: string): Span[] {
  const words = quote.trim().split(/\s+/u);
  if (words[0] === undefined || words[0] === '') return [];
  const pattern = new RegExp(words.map(asPattern).join(String.raw`\s+`), 'gu');
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => toSpan(text, index, index + found.length));
}

const singleMarks = "'‘’‚‛′`´";
const doubleMarks = '"“”„‟″«»';

function asPattern(word: string): string {
  return Array.from(word)
    .map((character) => {
      if (singleMarks.includes(character)) return `[${singleMarks}]`;
      if (doubleMarks.includes(character)) return `[${doubleMarks}]`;
      return character.replace(/[\\^$.*+?()[\]{}|/]/u, String.raw`\$&`);
    })
    .join('');
}

/** Turns offsets of JavaScript into a span. */
export function toSpan(text: string, start: number, end: number): Span {
  const before = countCharacters(text.slice(0, start));
  return [before, before + countCharacters(text.slice(start, end))];
}

function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** Sorts spans, and joins those that overlap or touch. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: [number, number][] = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** Returns the parts of spans that no other span covers. */
export function subtractSpans(spans: readonly Span[], others: readonly Span[]): Span[] {
  let left = joinSpans(spans);
  for (const [from, to] of joinSpans(others)) {
    left = left.flatMap(([start, end]): Span[] => {
      if (to <= start || end <= from) return [[start, end]];
      return (
        [
          [start, from],
          [to, end],
        ] as Span[]
      ).filter(([first, last]) => first < last);
    });
  }
  return left;
}

/** Returns a text without some of its parts, and with one blank where there were several. */
export function leaveOut(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const characters = Array.from(text);
  const kept: string[] = [];
  let from = 0;
  for (const [start, end] of joinSpans(spans)) {
    kept.push(characters.slice(from, start).join(''));
    from = end;
  }
  kept.push(characters.slice(from).join(''));
  return kept
    .join('')
    .replace(/[^\S\n]{2,}/gu, ' ')
    .replace(/ ?\n\s*/gu, '\n')
    .trim();
}

/** Returns the parts of a text that spans name. */
export function cutSpans(text: string, spans: readonly Span[]): string[] {
  const characters = Array.from(text);
  return spans.map(([start, end]) => characters.slice(start, end).join(''));
}
