import { millisecondsPerDay } from '../../shared/durations.ts';

/** From the first moment up to, and without, the second. */
export interface TimeRange {
  from: Date;
  to: Date;
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const numberWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const count = String.raw`(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)`;
const month = String.raw`(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`;
const year = String.raw`(?:,?\s+((?:19|20)\d\d))?`;

type Reader = (match: RegExpMatchArray, today: Date) => TimeRange | null;

/** The first that matches wins: the more a form says, the earlier it stands. */
const readers: [RegExp, Reader][] = [
  [
    new RegExp(String.raw`\b${month}\s+(\d{1,2})(?:st|nd|rd|th)?\b${year}`),
    ([, name, day, of], today) => dateOf(name, day, of, today),
  ],
  [
    new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?${month}\b${year}`),
    ([, day, name, of], today) => dateOf(name, day, of, today),
  ],
  [
    new RegExp(String.raw`\b(?:in|during|since|of|last)\s+${month}\b${year}`),
    ([, name, of], today) => monthOf(name, of, today),
  ],
  [/\b(?:in|during)\s+((?:19|20)\d\d)\b/, ([, of]) => ({ from: utc(Number(of)), to: utc(Number(of) + 1) })],
  [/\bday before yesterday\b/, (_, today) => daysFrom(today, -2, 1)],
  [/\byesterday\b/, (_, today) => daysFrom(today, -1, 1)],
  [/\b(?:today|this (?:morning|afternoon|evening)|tonight)\b/, (_, today) => daysFrom(today, 0, 1)],
  [
    new RegExp(String.raw`\b(?:last|past)\s+${count}\s+(day|week|month|year)s\b`),
    ([, n, unit], today) => lastOf(n, unit, today),
  ],
  [new RegExp(String.raw`\b${count}\s+(day|week|month|year)s?\s+ago\b`), ([, n, unit], today) => ago(n, unit, today)],
  [/\b(last|this|past)\s+(week|month|year)\b/, ([, which, unit], today) => unitOf(which, unit, today)],
  [
    /\b(?:last|on)\s+(sunday|monday|tuesday|wednesday|thursday|friday|saturday)\b/,
    ([, name], today) => weekdayOf(name, today),
  ],
];

/** The time that a question speaks of, in UTC, or null. */
export function findTimeRange(question: string, now: Date): TimeRange | null {
  const text = question.toLowerCase();
  const today = utc(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  for (const [pattern, read] of readers) {
    const match = text.match(pattern);
    const range = match === null ? null : read(match, today);
    if (range !== null) return range;
  }
  return null;
}

function utc(ofYear: number, ofMonth = 0, day = 1): Date {
  return new Date(Date.UTC(ofYear, ofMonth, day));
}

function daysFrom(today: Date, offset: number, days: number): TimeRange {
  const from = new Date(today.getTime() + offset * millisecondsPerDay);
  return { from, to: new Date(from.getTime() + days * millisecondsPerDay) };
}

/** Without a year, the latest that has begun. */
function monthOf(name = '', ofYear: string | undefined, today: Date): TimeRange {
  const index = monthNames.indexOf(name.slice(0, 3));
  const latest = index > today.getUTCMonth() ? today.getUTCFullYear() - 1 : today.getUTCFullYear();
  const chosen = ofYear === undefined ? latest : Number(ofYear);
  return { from: utc(chosen, index), to: utc(chosen, index + 1) };
}

function dateOf(name = '', day = '', ofYear: string | undefined, today: Date): TimeRange | null {
  const index = monthNames.indexOf(name.slice(0, 3));
  const thisYear = utc(today.getUTCFullYear(), index, Number(day));
  const latest = thisYear > today ? today.getUTCFullYear() - 1 : today.getUTCFullYear();
  const date = utc(ofYear === undefined ? latest : Number(ofYear), index, Number(day));
  return date.getUTCMonth() === index ? daysFrom(date, 0, 1) : null;
}

function weekdayOf(name = '', today: Date): TimeRange {
  const back = (today.getUTCDay() - weekdayNames.indexOf(name) + 7) % 7 || 7;
  return daysFrom(today, -back, 1);
}

/** Weeks start on Monday. */
function unitOf(which = '', unit = '', today: Date): TimeRange {
  const back = which === 'this' ? 0 : 1;
  const [ofYear, ofMonth] = [today.getUTCFullYear(), today.getUTCMonth()];
  if (unit === 'year') return { from: utc(ofYear - back), to: utc(ofYear - back + 1) };
  if (unit === 'month') return { from: utc(ofYear, ofMonth - back), to: utc(ofYear, ofMonth - back + 1) };
  const sinceMonday = (today.getUTCDay() + 6) % 7;
  return daysFrom(today, -sinceMonday - 7 * back, 7);
}

function lastOf(n = '', unit = '', today: Date): TimeRange {
  return { from: stepBack(today, amount(n), unit), to: daysFrom(today, 0, 1).to };
}

/** "Two weeks ago" is a week around that day, as nobody means the day itself. */
function ago(n = '', unit = '', today: Date): TimeRange {
  const slack = { day: 0, week: 3, month: 15, year: 183 }[unit] ?? 0;
  return daysFrom(stepBack(today, amount(n), unit), -slack, 2 * slack + 1);
}

function stepBack(today: Date, n: number, unit: string): Date {
  if (unit === 'day' || unit === 'week')
    return new Date(today.getTime() - n * (unit === 'week' ? 7 : 1) * millisecondsPerDay);
  const months = unit === 'year' ? 12 * n : n;
  return utc(today.getUTCFullYear(), today.getUTCMonth() - months, today.getUTCDate());
}

function amount(text: string): number {
  if (text === 'a' || text === 'an') return 1;
  const index = numberWords.indexOf(text);
  return index === -1 ? Number(text) : index;
}
