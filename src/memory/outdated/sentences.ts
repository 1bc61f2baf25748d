/** A sentence of a text, by the offsets that JavaScript counts. */
export interface Sentence {
  start: number;
  end: number;
  text: string;
}

const sentenceEnd = /[.!?]+["')\]]*(?=\s|$)|;(?=\s)|\n+/gu;
const abbreviation = /(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|e\.g|i\.e|etc|approx|no|vs|\p{L}\.\p{L}|\p{Lu})\.$/iu;
/** "user: " at the start of a line says who speaks, and belongs to no sentence. */
const speaker = /^\s*(?:[-*•] )?(?:\p{L}[\p{L}\p{N} ]{0,20}:(?:\s+|$))?/u;

/** Splits a text into sentences, without the blanks around them and without the names of speakers. */
export function splitSentences(text: string): Sentence[] {
  const ends = [...text.matchAll(sentenceEnd)].map(({ index, 0: mark }) => index + mark.length);
  const sentences: Sentence[] = [];
  let from = 0;
  for (const end of [...ends, text.length]) {
    if (end <= from || abbreviation.test(text.slice(Math.max(from, end - 8), end))) continue;
    const isLineStart = from === 0 || text[from - 1] === '\n';
    const label = isLineStart ? (speaker.exec(text.slice(from, end))?.[0].length ?? 0) : 0;
    const part = text.slice(from + label, end);
    const start = from + label + (part.length - part.trimStart().length);
    const said = part.trim();
    if (said !== '') sentences.push({ start, end: start + said.length, text: said });
    from = end;
  }
  return sentences;
}

/** Tells whether nothing is left of a text but names of speakers and punctuation. */
export function isEmptySpeech(text: string): boolean {
  return text.split('\n').every((line) => !/[\p{L}\p{N}]/u.test(line.replace(speaker, '')));
}
