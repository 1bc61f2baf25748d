const sentenceEnd = /[.!?]+["')]*(?=\s|$)|;(?=\s)/g;
const abbreviation = /(?:^|[\s(])(?:dra?|mr|mrs|ms|prof|sra?|st|e\.g|i\.e|etc|approx|no|vs|\p{L}\.\p{L}|\p{Lu})\.$/iu;
const halfDay = /\b[ap]\.m\.$/i;
/** Before a small letter or a number these end no sentence. */
const shortened =
  /\b(?:incl|excl|max|min|tel|ext|approx|resp|vol|dept|est|hrs?|yrs?|mins?|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|str|apt|nr|no|ca|cf|fig|co|inc|ltd|corp|bros)\.$/i;

/** The places after the sentences of a line; what stands before a semicolon is read as one. */
export function endsOf(text: string): number[] {
  const ends = [...text.matchAll(sentenceEnd)].map(({ index, 0: mark }) => index + mark.length);
  return [...ends.filter((end) => !isAbbreviation(text, end)), text.length];
}

/** Whether the mark before a place belongs to a shortened word. */
export function isAbbreviation(text: string, end: number): boolean {
  const before = text.slice(Math.max(0, end - 8), end);
  if (/^\s+[\p{Ll}\d]/u.test(text.slice(end, end + 4)) && shortened.test(before)) return true;
  const isNewSentence = halfDay.test(before) && /^\s+\p{Lu}/u.test(text.slice(end, end + 4));
  return abbreviation.test(before) && !isNewSentence;
}
