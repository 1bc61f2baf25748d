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
  /** Nouns before the first verb or colon: what it is about. */
  readonly head: ReadonlySet<string>;
  /** Nouns before the first verb, and after it. */
  readonly first: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  /** Words for relatives, friends, colleagues and pets. */
  readonly kin: ReadonlySet<string>;
  readonly values: Values;
  /** What its numbers count, by their stems: "euro", "puff", "%". */
  readonly units: ReadonlyMap<string, ReadonlySet<string>>;
  /** Its words that carry meaning, as a tokenizer without case and accents writes them, and what each is. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Words and values that it says not to hold: "not the 9th", "instead of Monday". */
  readonly denied: ReadonlySet<string>;
  /** Of these, what it names beside what holds instead: "on the 19th, not on the 9th". */
  readonly contrasted: ReadonlySet<string>;
  /** It says that something known is wrong. */
  readonly isCorrection: boolean;
  readonly isNegative: boolean;
  readonly isEnded: boolean;
}

/** What a word is in its sentence. */
export interface Role {
  readonly word: string;
  readonly kind: 'value' | 'name' | 'noun' | 'verb' | 'other';
  /** It stands before the first verb. */
  readonly isFirst: boolean;
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

const denials =
  /^(?:not|instead|rather|than|longer|nor|never|unlike|replac\p{L}+|left|leaves|gave|given|giving|stop\p{L}*|cancel\p{L}*|drop\p{L}*|retired|from|whereas)$/u;
/** What is denied stands among so many words after the word that denies it. */
const denialReach = 5;
const corrections =
  /\b(?:correct(?:ed|ion|s)|mistake|mistaken|wrong(?:ly)?|misread|mishe[ae]rd?|misunderst\w+|mix(?:ed|es)? (?:\w+ )?up|confus(?:ed|ion)|actually|straight|turns out|turned out|slip|error|meant|swapped|after all|fix|rather than|whereas)\b|, not\b|\bnot (?:\w+ ){1,4}but\b|^(?:it|that) (?:is|was) .{2,40} (?:that|who|which)\b|\bit is$/i;

function createValues(): Record<keyof Values, Set<string>> {
  return { weekdays: new Set(), months: new Set(), times: new Set(), numbers: new Set() };
}

export function topicOf(subject: string, content: string, predicate: string | null): Topic {
  const sentence = predicate === null ? content : sentenceOf({ subject, predicate, content });
  const tokens = tag(sentence);
  const own = new Set(splitWords(subject).map(stem));
  const [words, nouns, names] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [first, later, verbs, kinWords] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  const values = createValues();
  const head = new Set<string>();
  let hasVerb = false;
  let isHead = true;
  const roles = new Map<string, Role>();
  const denied = new Set<string>();
  const contrasted = new Set<string>();
  let [deniedUntil, contrastedUntil] = [-1, -1];
  for (const [place, token] of tokens.entries()) {
    const { lower, pos } = token;
    hasVerb ||= place > 0 && (pos === 'VERB' || pos === 'AUX');
    isHead &&= !hasVerb && lower !== ':';
    if (pos === 'PUNCT') contrastedUntil = -1;
    if (isContrast(tokens, place)) contrastedUntil = place + denialReach;
    if (!/[\p{L}\p{N}]/u.test(lower) || lower.startsWith("'")) continue;
    const isDenial = denials.test(lower);
    const value = readValue(token, values);
    const isValue = value !== null;
    const word = value ?? stem(lower);
    if (place <= deniedUntil && (isValue || !stopWords.has(lower))) denied.add(word);
    if (place <= contrastedUntil && (isValue || !stopWords.has(lower))) contrasted.add(word);
    if (isDenial) deniedUntil = place + denialReach;
    if (isValue || !stopWords.has(lower)) addRoles(roles, token, { place, isValue, isFirst: !hasVerb });
    if (isValue || stopWords.has(lower)) continue;
    words.add(word);
    if (kin.test(lower)) kinWords.add(word);
    if (pos === 'VERB') verbs.add(word);
    if (isName(token, place)) names.add(word);
    if (/^(?:NOUN|PROPN)$/.test(pos)) (hasVerb ? later : first).add(word);
    if (isHead && /^(?:NOUN|PROPN)$/.test(pos)) head.add(word);
    if (/^(?:NOUN|PROPN|X)$/.test(pos) && !own.has(word)) nouns.add(word);
  }
  return {
    subject: subject.toLowerCase(),
    content: sentence,
    length: tokens.length,
    words,
    nouns,
    head,
    first,
    later,
    verbs,
    names,
    kin: kinWords,
    values,
    units: listUnits(tokens),
    roles,
    denied,
    contrasted,
    isCorrection: corrections.test(sentence),
    isNegative: negations.test(sentence),
    isEnded: endings.test(sentence),
  };
}

/** Whether a word begins what does not hold: "…, not …", "instead of …", "rather than …". */
function isContrast(tokens: readonly Token[], place: number): boolean {
  const [own, before] = [tokens[place]?.lower, tokens[place - 1]];
  if (own === 'not') return before?.pos === 'PUNCT';
  return (own === 'of' && before?.lower === 'instead') || (own === 'than' && before?.lower === 'rather');
}

/** Whether a sentence says of the same matter that a word or value of the known one does not hold. */
export function corrects(known: Topic, said: Topic): boolean {
  const stated = new Set([...known.words, ...valueKinds.flatMap((kind) => [...known.values[kind]])]);
  const isDenied = [...said.contrasted].some((word) => stated.has(word) && !known.denied.has(word));
  const others = [...withoutNames(said.words, said)].filter((word) => !said.contrasted.has(word));
  return isDenied && others.some((word) => known.words.has(word));
}

const present = /\b(?:now|nowadays|these days|currently|since|as of|no longer|instead|new|has become|became)\b/i;

/**
 * Whether a sentence says what holds now of the very thing that the known one is about, "the emergency contact", and names
 * another person, place, day or number.
 */
export function restates(known: Topic, said: Topic): boolean {
  if (!present.test(said.content) || areDisjoint(known.verbs, said.verbs)) return false;
  const [own, other] = [withoutNames(known.head, known), withoutNames(said.head, said)];
  if (own.size === 0 || other.size === 0 || !isNested(own, other)) return false;
  const [ownHead, otherHead] = [known, said].map(({ names, kin: relatives, head }) => {
    return new Set([...names, ...relatives].filter((word) => head.has(word)));
  }) as [Set<string>, Set<string>];
  const isOneHead = ownHead.size === otherHead.size && isNested(ownHead, otherHead);
  const areOtherNames = areDisjoint(withoutHead(known.names, known), withoutHead(said.names, said));
  return isOneHead && (areOtherNames || hasConflict(known, said));
}

function withoutHead(words: ReadonlySet<string>, { head }: Topic): Set<string> {
  return new Set([...words].filter((word) => !head.has(word)));
}

/** Leaves out what stands before the first verb. */
export function withoutFirst(words: ReadonlySet<string>, { first }: Topic): Set<string> {
  return new Set([...words].filter((word) => !first.has(word)));
}

/** Two amounts are of one kind where the word after both is the same. */
function listUnits(tokens: readonly Token[]): Map<string, Set<string>> {
  const units = new Map<string, Set<string>>();
  for (const [place, token] of tokens.entries()) {
    const { numbers } = readValues(token);
    const after = tokens[place + 1];
    if (numbers.size === 0 || after === undefined) continue;
    if (after.lower !== '%' && !/^(?:NOUN|PROPN|X|SYM)$/.test(after.pos)) continue;
    const unit = stem(after.lower);
    units.set(unit, new Set([...(units.get(unit) ?? []), ...numbers]));
  }
  return units;
}

function readValues(token: Token): Values {
  const values = createValues();
  readValue(token, values);
  return values;
}

function addRoles(
  roles: Map<string, Role>,
  token: Token,
  { place, isValue, isFirst }: { place: number; isValue: boolean; isFirst: boolean },
): void {
  const kinds = { NOUN: 'noun', X: 'noun', ADJ: 'noun', VERB: 'verb' } as const;
  const own = isName(token, place) ? 'name' : (kinds[token.pos as keyof typeof kinds] ?? 'other');
  const kind = isValue ? 'value' : own;
  const plain = token.lower.normalize('NFD').replace(/\p{M}/gu, '');
  for (const word of plain.match(/[\p{L}\p{N}]+/gu) ?? []) if (word !== 's') roles.set(word, { word, kind, isFirst });
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

/** Adds a weekday, month, time or number to the values, and returns what it added last; null for any other word. */
function readValue({ text, lower }: Token, values: Record<keyof Values, Set<string>>): string | null {
  const add = (kind: keyof Values, value: string): string => {
    values[kind].add(value);
    return value;
  };
  const day = weekday.exec(lower)?.groups?.['day'];
  const date = isoDate.exec(lower)?.groups;
  const number = digits.exec(lower)?.groups?.['number'] ?? numberWords.get(lower);
  if (day !== undefined) return add('weekdays', day);
  if (months.includes(lower) && /^\p{Lu}/u.test(text)) return add('months', lower);
  if (/^\d{1,2}:\d\d/.test(lower)) return add('times', lower);
  if (date !== undefined) {
    add('months', months[Number(date['month']) - 1] ?? '');
    return add('numbers', String(Number(date['day'])));
  }
  if (number !== undefined) return add('numbers', number.replace(/[.,]$/, ''));
  return /^\d/.test(lower) ? add('numbers', lower) : null;
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
