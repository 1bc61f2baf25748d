import { isCommonWord, tag, type Token } from './tags.ts';

/** A sentence as it is compared with another. */
export interface Topic {
  readonly subject: string;
  readonly content: string;
  readonly length: number;
  /** All words that carry meaning, by their stems. */
  readonly words: ReadonlySet<string>;
  /** Nouns and names, without those of its subject and without values. */
  readonly nouns: ReadonlySet<string>;
  /** Nouns before the first verb, and after it. */
  readonly first: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  /** Words for relatives, friends, colleagues and pets. */
  readonly kin: ReadonlySet<string>;
  readonly values: Values;
  readonly isNegative: boolean;
  readonly isEnded: boolean;
}

export const valueKinds = ['weekdays', 'months', 'times', 'numbers'] as const;
export type Values = Readonly<Record<(typeof valueKinds)[number], ReadonlySet<string>>>;

const stopWords = new Set(
  'a an the of in on at to for from by with and or but is are was were be been being has have had do does did will would can could must should may might not no never user users his her their its he she they it this that these those there as since until till about into over under after before when while who which also now still only just all any each every some more most other own same so than too very i me my we our you your one go goes going went take takes get gets got make makes come comes out instead again'.split(
    ' ',
  ),
);
const endings =
  /\b(?:no longer|any ?more|any longer|stopped|stops|gave up|gives up|given up|quit|sold|cancelled|canceled|abolished|ended|died|left|retired|moved out|pulled out|handed (?:in|back)|returned|got rid of|not .{0,60}after all|put off|called off|is off|fixed|repaired|solved|dropped|resigned|divorced|separated|stolen|nicked|lost|expired|closed|finished|scrapped|gone|over)\b/i;
const negations =
  /\b(?:not|no|never|cannot|without|none|nothing|neither|nobody|hates|dislikes|avoids|refuses|un\p{L}{3,}ed)\b/iu;
const kin =
  /^(?:wife|husband|partner|mother|father|mum|dad|parents?|sister|brother|son|daughter|child|children|kids?|baby|grand\p{L}+|aunt|uncle|cousin|nephew|niece|friend|colleague|boss|manager|neighbours?|flatmate|dog|cat|horse|twins?|stepson|stepdaughter|fiancée?|\p{L}+-in-law)$/u;

export function topicOf(subject: string, content: string, predicate: string | null): Topic {
  const sentence = predicate === null ? content : sentenceOf({ subject, predicate, content });
  const tokens = tag(sentence);
  const own = new Set(splitWords(subject).map(stem));
  const [words, nouns, names] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [first, later, verbs, kinWords] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  const values = {
    weekdays: new Set<string>(),
    months: new Set<string>(),
    times: new Set<string>(),
    numbers: new Set<string>(),
  };
  let hasVerb = false;
  for (const [place, token] of tokens.entries()) {
    const { lower, pos } = token;
    hasVerb ||= place > 0 && (pos === 'VERB' || pos === 'AUX');
    if (!/[\p{L}\p{N}]/u.test(lower) || lower.startsWith("'")) continue;
    if (readValue(token, values) || stopWords.has(lower)) continue;
    const word = stem(lower);
    words.add(word);
    if (kin.test(lower)) kinWords.add(word);
    if (pos === 'VERB') verbs.add(word);
    if (isName(token, place)) names.add(word);
    if (/^(?:NOUN|PROPN)$/.test(pos)) (hasVerb ? later : first).add(word);
    if (/^(?:NOUN|PROPN|X)$/.test(pos) && !own.has(word)) nouns.add(word);
  }
  return {
    subject: subject.toLowerCase(),
    content: sentence,
    length: tokens.length,
    words,
    nouns,
    first,
    later,
    verbs,
    names,
    kin: kinWords,
    values,
    isNegative: negations.test(sentence),
    isEnded: endings.test(sentence),
  };
}

/** A fact as a sentence: "User's stable: Nybø". Where the content is a sentence, the predicate only repeats its words. */
export function sentenceOf({
  subject,
  predicate,
  content,
}: Record<'subject' | 'predicate' | 'content', string>): string {
  const text = content.trim().replace(/[.!]+$/, '');
  const isUser = subject.toLowerCase() === 'user';
  const isSentence =
    /^(?:the )?user\b/i.test(text) || (!isUser && text.toLowerCase().startsWith(subject.toLowerCase()));
  return isSentence ? text : `${isUser ? 'User' : subject}'s ${predicate.replaceAll('_', ' ')}: ${text}`;
}

/** Any first word has a capital: it is a name only where it is no other word. */
function isName({ text, lower, pos }: Token, place: number): boolean {
  if (lower === 'user') return false;
  return place === 0 ? pos === 'PROPN' && !isCommonWord(lower) : pos === 'PROPN' || /^\p{Lu}/u.test(text);
}

const weekday = /^(?<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?$/;
const months = 'january february march april may june july august september october november december'.split(' ');
const isoDate = /^\d{4}-(?<month>\d\d)-(?<day>\d\d)$/;
const digits = /^(?<number>\d[\d.,]*?)(?:st|nd|rd|th)?$/;
const numberWords: ReadonlyMap<string, string> = new Map([
  ...'one two three four five six seven eight nine ten eleven twelve'
    .split(' ')
    .map((word, place) => [word, String(place + 1)] as const),
  ...'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'
    .split(' ')
    .map((word, place) => [word, String(place + 1)] as const),
  ['fifteen', '15'],
  ['fifteenth', '15'],
  ['twenty', '20'],
  ['thirty', '30'],
  ['forty', '40'],
  ['fifty', '50'],
  ['once', '1'],
  ['twice', '2'],
  ['half', 'half'],
  ['quarter', 'quarter'],
  ['noon', '12'],
  ['midnight', '0'],
]);

/** Adds a weekday, month, time or number to the values; false for any other word. */
function readValue({ text, lower }: Token, values: Record<keyof Values, Set<string>>): boolean {
  const day = weekday.exec(lower)?.groups?.['day'];
  const date = isoDate.exec(lower)?.groups;
  const number = digits.exec(lower)?.groups?.['number'] ?? numberWords.get(lower);
  if (day !== undefined) values.weekdays.add(day);
  else if (months.includes(lower) && /^\p{Lu}/u.test(text)) values.months.add(lower);
  else if (/^\d{1,2}:\d\d/.test(lower)) values.times.add(lower);
  else if (date !== undefined) {
    values.months.add(months[Number(date['month']) - 1] ?? '');
    values.numbers.add(String(Number(date['day'])));
  } else if (number !== undefined) values.numbers.add(number.replace(/[.,]$/, ''));
  else if (/^\d/.test(lower)) values.numbers.add(lower);
  else return false;
  return true;
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/(?:'s)$/, '')
    .replace(/ies$/, 'y')
    .replace(/(?:ings?|ed|es|s)$/, '')
    .replace(/(.)\1$/, '$1')
    .replace(/e$/, '');
}

/** All values of a topic, each with its kind. */
export function listValues({ values }: Topic): Set<string> {
  return new Set(valueKinds.flatMap((kind) => [...values[kind]].map((value) => `${kind} ${value}`)));
}

/** Whether both name values of a kind, and others. */
export function hasConflict(one: Topic, other: Topic): boolean {
  return valueKinds.some((kind) => areDisjoint(one.values[kind], other.values[kind]));
}

/** Whether two sets have elements and none in common. */
export function areDisjoint(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size > 0 && other.size > 0 && countCommon(one, other) === 0;
}

export function countCommon(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return [...one].filter((word) => other.has(word)).length;
}

/** Leaves names out: they recur in sentences about other matters. */
export function withoutNames(words: ReadonlySet<string>, { names }: Topic): Set<string> {
  return new Set([...words].filter((word) => !names.has(word)));
}

/** Whether one of two sets holds the other. */
export function isNested(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return countCommon(one, other) === Math.min(one.size, other.size);
}

/** Of whose a sentence speaks: the same subject, or one speaks of the other's. */
export function isSameSubject(known: Topic, said: Topic): boolean {
  return known.subject === said.subject || mentions(known, said.subject) || mentions(said, known.subject);
}

function mentions({ content }: Topic, subject: string): boolean {
  return (
    subject !== 'user' && !subject.startsWith("user's") && subject !== 'note' && content.toLowerCase().includes(subject)
  );
}

/** A sentence about a thing ("The new place is …") may speak of anybody's. */
export function mayBeSame(known: Topic, said: Topic): boolean {
  return isSameSubject(known, said) || [known, said].some(isOfThing);
}

function isOfThing({ subject, content }: Topic): boolean {
  return (subject === 'user' || subject === 'note') && !/^(?:the )?user\b/i.test(content);
}

/** What somebody else did may change what the user has ("Dr Poy lowered the dose"), but not what a third person has. */
export function mayConcern(known: Topic, said: Topic): boolean {
  return isSameSubject(known, said) || [known, said].some(({ subject }) => subject === 'user' || subject === 'note');
}
