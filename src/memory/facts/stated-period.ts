import { millisecondsPerDay } from '../../shared/durations.ts';

export interface StatedPeriod {
  /** The first day on which a sentence holds, as far as it names one. */
  from: Date | null;
  /** The end of the last day on which it holds. */
  until: Date | null;
}

const months = 'January|February|March|April|May|June|July|August|September|October|November|December';
const ordinals = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth'
    .split(' ')
    .map((word, place) => [word, place + 1]),
);
const dayOfMonth = String.raw`\d{1,2}(?:st|nd|rd|th)?|${[...ordinals.keys()].join('|')}`;
const date = String.raw`(?:(?:the )?(?<day>${dayOfMonth})(?: of)? )?(?<month>${months}),? (?<year>\d{4})|(?<monthFirst>${months}) (?:the )?(?<dayAfter>${dayOfMonth}), (?<yearAfter>\d{4})|(?:the week of )?(?<iso>\d{4}-\d\d-\d\d)`;
const beginning = new RegExp(
  String.raw`\b(?:from|as of|starting|beginning|effective)(?: on| in| with)? (?:${date})`,
  'iu',
);
const end = new RegExp(String.raw`\b(?:until|till|up to|through)(?: and including)?(?: the end of)? (?:${date})`, 'iu');

/** Reads from when and until when a sentence says that it holds. Days are those of UTC. */
export function readPeriod(sentence: string): StatedPeriod {
  return { from: readDate(beginning.exec(sentence), false), until: readDate(end.exec(sentence), true) };
}

/** Leaves out from when a sentence says that it holds: "From July 2026 on the lesson is on Saturdays". */
export function leaveOutBeginning(sentence: string): string {
  return sentence
    .replace(new RegExp(`${beginning.source}(?: on(?:wards?)?)?,?`, 'iu'), '')
    .replace(/\s+/g, ' ')
    .trim();
}

function readDate(match: RegExpExecArray | null, isEnd: boolean): Date | null {
  const { day, month, year, monthFirst, dayAfter, yearAfter, iso } = match?.groups ?? {};
  const name = month ?? monthFirst;
  const written = day ?? dayAfter;
  if (iso === undefined && name === undefined) return null;
  const number = written === undefined ? 1 : (ordinals.get(written.toLowerCase()) ?? Number.parseInt(written, 10));
  const first = new Date(iso ?? `${number} ${name} ${year ?? yearAfter} UTC`);
  if (Number.isNaN(first.getTime())) return null;
  if (!isEnd) return first;
  if (iso === undefined && written === undefined)
    return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1));
  return new Date(first.getTime() + millisecondsPerDay);
}
