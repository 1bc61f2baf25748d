const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const weekday = `(?<weekday>${weekdays.join('|')})(?!s)`;
const month = `(?<month>${months.join('|')})`;
const parts = '(?: (?<part>morning|afternoon|evening|night|noon|lunchtime))?';
const count = `(?<count>\\d{1,3}|an?|${numbers.slice(1).join('|')})`;

interface Saying {
  readonly said: RegExp;
  /** Returns what stands for it, or null to leave it as it is. */
  readonly resolve: (groups: Readonly<Record<string, string | undefined>>, at: Moment) => string | null;
}

interface Moment {
  readonly day: Date;
  /** The clause tells of the past, so that "on Friday" is the last one. */
  readonly isPast: boolean;
  /** "has moved", "since": a date without a year is the nearest one. */
  readonly isPerfect?: boolean;
  /** It names a day of a month. */
  readonly isDated?: boolean;
  /** It tells of what comes back every month. */
  readonly isMonthly?: boolean;
}

const sayings: readonly Saying[] = [
  {
    said: pattern(
      `(?<lead>on |from |until |till |by |since )?the (?<which>first|second|third|fourth|last) ${weekday} (?:of|in) (?:(?<deictic>this|next|last) month|${month}(?: (?<year>\\d{4}))?)`,
    ),
    resolve: ({ lead = 'on ', which = '', weekday: name = '', deictic, month: ofMonth = '', year }, at) => {
      const steps = { next: 1, last: -1, this: 0 }[deictic?.toLowerCase() ?? ''];
      const first =
        steps === undefined
          ? calendar(at, months.indexOf(ofMonth.toLowerCase()), 15)
          : shift(new Date(Date.UTC(at.day.getUTCFullYear(), at.day.getUTCMonth(), 1)), 'month', steps);
      return `${lead}${iso(weekdayOfMonth(year === undefined ? first.getUTCFullYear() : Number(year), first.getUTCMonth(), weekdays.indexOf(name.toLowerCase()), which.toLowerCase()))}`;
    },
  },
  { said: pattern('the day after tomorrow'), resolve: (_, { day }) => `on ${iso(add(day, 2))}` },
  { said: pattern('the day before yesterday'), resolve: (_, { day }) => `on ${iso(add(day, -2))}` },
  {
    said: pattern(
      `(?<lead>from |until |till |by |since |of |for )?(?<deictic>today|tomorrow|yesterday)(?!')${parts}(?! as usual)`,
    ),
    resolve: ({ lead, deictic, part }, { day }) =>
      `${lead ?? 'on '}${iso(add(day, { today: 0, tomorrow: 1, yesterday: -1 }[deictic?.toLowerCase() ?? ''] ?? 0))}${inPart(part)}`,
  },
  {
    said: pattern(
      `(?<lead>from |until |till |by |since |of |for )?(?:this (?<part>morning|afternoon|evening)|(?<tonight>tonight)|(?<last>last night))(?!')`,
    ),
    resolve: ({ lead = 'on ', part, tonight, last }, { day }) =>
      last === undefined
        ? `${lead}${iso(day)}${inPart(tonight === undefined ? part : 'evening')}`
        : `${lead}${iso(add(day, -1))} at night`,
  },
  {
    said: pattern(
      `(?<lead>on |from |until )?${weekday} (?:in a|next|of next|in the coming|of the coming) week${parts}`,
    ),
    resolve: ({ lead, weekday: name = '', part }, { day }) =>
      `${lead ?? 'on '}${iso(nearest(add(day, 6 - ((day.getUTCDay() + 6) % 7)), weekdays.indexOf(name.toLowerCase()), false, false))}${inPart(part)}`,
  },
  {
    said: pattern('the week after next'),
    resolve: (_, { day }) => `in the week of ${iso(add(day, 14))}`,
  },
  {
    said: pattern(
      `(?<lead>on|until|till|by|from|since|starting|coming|this|next|last|this coming)(?: (?<which>next|this|last|the coming))? ${weekday}(?! (?:mornings|evenings|afternoons|nights))${parts}(?! (?:and|or|to) (?:${weekdays.join('|')})|,? (?:${weekdays.join('|')}))`,
    ),
    resolve: ({ lead = '', which, weekday: name = '', part }, at) => {
      const isNext = /next/i.test(`${lead} ${which ?? ''}`);
      const isLast = /last/i.test(`${lead} ${which ?? ''}`) || (at.isPast && /^on$/i.test(lead) && !isNext);
      const date = nearest(at.day, weekdays.indexOf(name.toLowerCase()), isLast, isNext);
      const word = /^(?:until|till|by|from|since|starting)$/i.test(lead) ? lead : 'on';
      return `${word} ${iso(date)}${inPart(part)}`;
    },
  },
  {
    said: pattern(
      '(?<lead>on|until|by|from|since|starting)(?: on)? the (?<date>\\d{1,2})(?:st|nd|rd|th)(?! (?:of|floor|century|row|hour|each|every))',
    ),
    resolve: ({ lead, date }, { day, isPast, isDated = false, isMonthly = false }) => {
      // "on 19 May, not on the 9th": of the month that is named.
      if (isDated || isMonthly) return null;
      const found = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), Number(date)));
      if (found.getUTCDate() !== Number(date)) return null;
      if (!isPast && found < day) found.setUTCMonth(found.getUTCMonth() + 1);
      if (isPast && found > day) found.setUTCMonth(found.getUTCMonth() - 1);
      return `${lead} ${iso(found)}`;
    },
  },
  {
    said: pattern(
      `(?<!\\b(?:\\d+|once|twice|times|${numbers.join('|')}) )in ${count} (?<unit>day|week|month|year)s?(?: time|' time)?`,
    ),
    resolve: ({ count: many = '', unit = '' }, { day, isPast }) =>
      isPast ? null : around('in', shift(day, unit, numberOf(many)), unit),
  },
  {
    said: pattern(`${count} (?<unit>day|week|month|year)s? ago`),
    resolve: ({ count: many = '', unit = '' }, { day }) => around('in', shift(day, unit, -numberOf(many)), unit),
  },
  {
    said: pattern(
      "(?<lead>(?:as )?of|from|since|by|until|in|at the end of|the end of)?\\s?(?<which>next|last|this) (?<unit>week|month|year)(?!')",
    ),
    resolve: ({ lead, which = '', unit = '' }, { day }) => {
      const steps = { next: 1, last: -1, this: 0 }[which.toLowerCase()] ?? 0;
      const when = around('', shift(day, unit, steps), unit);
      return lead === undefined || lead === '' ? `in ${when}` : `${lead} ${when}`;
    },
  },
  {
    said: pattern('(?<lead>last|this past|next|this) (?<season>spring|summer|autumn|fall|winter)'),
    resolve: ({ lead = '', season = '' }, { day }) => {
      const place = { spring: 3, summer: 6, autumn: 9, fall: 9, winter: 12 }[season.toLowerCase()] ?? 1;
      const now = day.getUTCMonth() + 1;
      const year = day.getUTCFullYear();
      if (/^(?:last|this past)$/i.test(lead)) return `in ${season} ${place + 2 < now ? year : year - 1}`;
      return `in ${season} ${/^next$/i.test(lead) && place <= now ? year + 1 : year}`;
    },
  },
  {
    said: pattern(
      `(?<!(?:${months.join('|')}) )(?<lead>starting in|beginning in|(?:(?:in|for|to|until|till|from|by|since) )?(?:early|late|mid|the end of)|in|since|until|till|for|to|from|by|last|next|as of|of) ${month}(?! \\d|s\\b)(?! (?:and|or|to)\\b)`,
    ),
    resolve: ({ lead = '', month: name = '' }, at) => {
      const isLast =
        /^(?:last|since)\b/i.test(lead) ||
        (at.isPast && !/^(?:starting|beginning|until|till|from|by|next|as of)/i.test(lead));
      const place = months.indexOf(name.toLowerCase());
      const now = at.day.getUTCMonth();
      const year = at.day.getUTCFullYear();
      const isNearest = /^(?:for|to)\b/i.test(lead) || (at.isPerfect === true && !/^(?:last|since|next)/i.test(lead));
      if (isNearest) return `${lead} ${name} ${place - now > 6 ? year - 1 : now - place > 6 ? year + 1 : year}`;
      const found = isLast ? (place > now ? year - 1 : year) : place < now ? year + 1 : year;
      return `${/^(?:last|next)$/i.test(lead) ? 'in' : lead} ${name} ${found}`;
    },
  },
  {
    said: pattern('(?:at|over|on) the (?<which>end of the month|weekend)(?!s)'),
    resolve: ({ which = '' }, { day, isPast }) => {
      if (/month/i.test(which)) return `at the end of ${monthName(day)}`;
      return isPast ? `on the weekend of ${iso(nearest(day, 6, true, false))}` : null;
    },
  },
];

function pattern(said: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\d-])${said}(?![\\p{L}\\d])`, 'giu');
}

/** "Drivers are paid on the 25th": of each month. */
const monthly =
  /\b(?:(?:is|are|gets?) (?:\p{L}+ly )?(?:paid|due|collected|taken|billed|emptied|debited|charged|read|sent)|pays?)\b/u;
/** What comes back every month or year has no date. */
const recurring =
  /\b(?:birthday|name day|anniversary|rent|fees?|salary|subscription|goes out|is taken|each|every)\b(?!.*\b(?:next|last|today|tomorrow|yesterday|in \p{L}+ (?:days|weeks|months))\b)/iu;
/** What comes back every year has no year. */
const yearly =
  /\b(?:birthday|name day|anniversary|born|turns?|every (?:year|spring|summer|autumn|winter)|each year|yearly|annual\p{L}*)\b/iu;

const shortMonths = 'jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec';
const ordinals =
  'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty-(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|thirtieth|thirty-first';
const anyMonth = `(?<month>${months.join('|')}|(?:${shortMonths})\\b\\.?)`;
const writtenDates: readonly RegExp[] = [
  pattern(`(?<date>\\d{1,2}(?:st|nd|rd|th)?|${ordinals})(?: day)?(?: of)? ${anyMonth}(?!,? \\d{4}| ?')`),
  pattern(`${anyMonth} (?:the )?(?<date>\\d{1,2}(?:st|nd|rd|th)?)(?!:|\\d|[,.]\\d|,? \\d{4})`),
];

/** "lent until 3 June": that day is to come, though the verb is past. */
const untilThen = /\b(?:by|until|till|due|before|starting|through|expires?)(?: on)?(?: the)? $/i;
/** "moved to 20 December", "paid for July": the nearest one. */
const nearThen = /\b(?:for|to)(?: the)? $/i;

/** Keeps a date of a day and month as it is written, and adds the year that is meant. */
function addYears(text: string, at: Moment): string {
  if (yearly.test(text)) return text;
  return writtenDates.reduce(
    (changed, said) =>
      changed.replace(said, (whole: string, ...rest: unknown[]) => {
        const { date = '', month: name = '' } = rest.at(-1) as Record<string, string | undefined>;
        const before = changed.slice(0, rest.at(-3) as number);
        const isAhead = untilThen.test(before);
        const moment = nearThen.test(before) ? { ...at, isPerfect: true } : at;
        const place = months.findIndex((one) => one.startsWith(name.toLowerCase().slice(0, 3)));
        if (name === 'may') return whole;
        const day = Number.parseInt(date, 10);
        const isMonthFirst = whole.startsWith(name);
        return `${whole}${isMonthFirst ? ',' : ''} ${calendar(isAhead ? { day: at.day, isPast: false } : moment, place, Number.isNaN(day) ? 15 : day).getUTCFullYear()}`;
      }),
    text,
  );
}

/** "decided to move in late September": the plan was made in the past, and what is planned is to come. */
const planned =
  /\b(?:decided|planned|agreed|wanted|hoped|intended|promised|arranged|offered|going|due|supposed|signed up|invited|meant) to \p{L}+/iu;

/** Replaces what is said from the day of an episode ("next Friday") by dates that stay true. */
export function resolveDates(text: string, observedAt: Date, isPastTense: boolean, isPerfect = false): string {
  const day = new Date(Date.UTC(observedAt.getUTCFullYear(), observedAt.getUTCMonth(), observedAt.getUTCDate()));
  const isPast = isPastTense && !planned.test(text);
  const dated = addYears(text, { day, isPast, isPerfect });
  const isDated = writtenDates.some((written) => dated.search(written) >= 0) || dated !== text;
  if (recurring.test(dated)) return dated;
  return sayings.reduce(
    (changed, { said, resolve }) =>
      changed.replace(said, (whole: string, ...rest: unknown[]) => {
        const groups = rest.at(-1) as Record<string, string | undefined>;
        // "on the next Friday": a date has no article, and what is not read whole stays as it was said.
        if (/\bthe $/i.test(changed.slice(0, rest.at(-3) as number))) return whole;
        return resolve(groups, { day, isPast, isPerfect, isDated, isMonthly: monthly.test(dated) }) ?? whole;
      }),
    dated,
  );
}

export function iso(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function add(day: Date, days: number): Date {
  return new Date(day.getTime() + days * 86_400_000);
}

function inPart(part: string | undefined): string {
  if (part === undefined) return '';
  return /^(?:night|noon|lunchtime)$/i.test(part) ? ` at ${part}` : ` in the ${part}`;
}

/** The next day of that name, today excluded; the one before, or that of the week after where it is said so. */
function nearest(day: Date, wanted: number, isLast: boolean, isNext: boolean): Date {
  const ahead = (wanted - day.getUTCDay() + 7) % 7 || 7;
  if (isLast) return add(day, ahead - 7 === 0 ? -7 : ahead - 7);
  const endOfWeek = (7 - day.getUTCDay()) % 7;
  return add(day, isNext && ahead <= endOfWeek ? ahead + 7 : ahead);
}

/** "the last Tuesday of October". */
function weekdayOfMonth(year: number, monthOfYear: number, wanted: number, which: string): Date {
  const isLast = which === 'last';
  const start = new Date(Date.UTC(year, monthOfYear + (isLast ? 1 : 0), 1));
  const ahead = (wanted - start.getUTCDay() + 7) % 7;
  return add(start, ahead + 7 * (isLast ? -1 : ['first', 'second', 'third', 'fourth'].indexOf(which)));
}

/** The date of that day and month which is meant: the next one, the last one, or the nearest. */
function calendar({ day, isPast, isPerfect = false }: Moment, monthOfYear: number, date: number): Date {
  const found = new Date(Date.UTC(day.getUTCFullYear(), monthOfYear, date));
  const ahead = (found.getTime() - day.getTime()) / 86_400_000;
  const [least, most] = isPerfect ? [-90, 275] : isPast ? [-300, 65] : [-14, 351];
  if (ahead < least) found.setUTCFullYear(found.getUTCFullYear() + 1);
  if (ahead > most) found.setUTCFullYear(found.getUTCFullYear() - 1);
  return found;
}

function numberOf(word: string): number {
  if (/^an?$/i.test(word)) return 1;
  const place = numbers.indexOf(word.toLowerCase());
  return place < 0 ? Number(word) : place;
}

function shift(day: Date, unit: string, many: number): Date {
  if (unit === 'day') return add(day, many);
  if (unit === 'week') return add(day, 7 * many);
  const found = new Date(day);
  if (unit === 'month') found.setUTCMonth(found.getUTCMonth() + many, 1);
  else found.setUTCFullYear(found.getUTCFullYear() + many);
  return found;
}

/** As exactly as it was said: a day for days and weeks, a month, a year. */
function around(lead: string, date: Date, unit: string): string {
  const before = lead === '' ? '' : `${lead} `;
  if (unit === 'day') return `${lead === '' ? '' : 'on '}${iso(date)}`;
  if (unit === 'week') return lead === '' ? `the week of ${iso(date)}` : `on ${iso(date)}`;
  return unit === 'month' ? `${before}${monthName(date)}` : `${before}${date.getUTCFullYear()}`;
}

function monthName(date: Date): string {
  const name = months[date.getUTCMonth()] ?? '';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${date.getUTCFullYear()}`;
}
