import { relationNouns } from './relations.ts';
import { toSentence, userBeing, type Being } from './render.ts';
import { userSubject } from './statement.ts';
import { isCommonWord, type Token } from './tags.ts';
import { languages, nationalities } from './words.ts';

/** The persons of the sentences so far. */
export interface Cast {
  /** Names of the user. */
  readonly userNames: readonly string[];
  readonly text: string;
  /** The user, or the person whom the butler tells of by name. */
  user: Being;
  /** Others in the sentence before. */
  others: readonly Being[];
  /** The subject of the sentence before; null where that is no person. */
  subject: Being | null;
  /** "her", "his": the sentence before may speak of the user so. */
  pronouns: ReadonlySet<string>;
  /** Every other person of the episode. */
  all: readonly Being[];
}

const things =
  /^(?:I|User|rent|post|yoga|coffee|honey|keys?|physiotherapy|school|dinner|lunch|work|choir|guests?|next|last|moving|address|summary|payment|delivery|parking|internet|insurance|(?:sun|mon|tues|wednes|thurs|fri|satur)day|(?:mon|tue|wed|thu|fri|sat|sun)|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter)s?$/i;
/** Capitalised at the start of a sentence, or by custom. */
export function isNoName(word: string): boolean {
  return (
    things.test(word) ||
    /^(?:he|she|it|they|we|you|his|her|the|a|an|tonight|today|this|that|user|from|since|before|after|while|no|not)$/i.test(
      word,
    )
  );
}

const relationWord = new RegExp(
  `^(?:${relationNouns}|twins|kids|children|sons|daughters|parents|boss|cleaner|carer|godfather|mother-in-law)$`,
  'i',
);
const female =
  /^(?:mother|mum|mom|sister|daughter|wife|girlfriend|fiancée|aunt|niece|grandmother|grandma|mother-in-law|sister-in-law|landlady|goddaughter|granddaughter|stepdaughter|mrs|ms|miss|frau|madame|doña|dona|ex-wife|widow|woman|lady|girl)\.?$/i;
const male =
  /^(?:father|dad|brother|son|husband|boyfriend|fiancé|uncle|nephew|grandfather|grandpa|father-in-law|brother-in-law|godfather|grandson|stepson|mr|herr|don|ex-husband|widower|man|boy|landlord)\.?$/i;
const animals = /^(?:dog|cat|puppy|kitten|horse|mare|pony|rabbit|parrot|hamster|tortoise|turtle|bird|goat|cow|hen)$/;
const isPeople = new RegExp(`^(?:${languages}|${nationalities})$`, 'i');
const places = /^(?:in|at|near|from|to|via|of|on|into|around|outside|toward|towards)$/;

export function createCast(text: string, userNames: readonly string[], user: Being): Cast {
  return { text, userNames, user, others: [], subject: null, pronouns: new Set(), all: [] };
}

/** Remembers whom a sentence mentions, for the pronouns of the next one. */
export function meet(tokens: readonly Token[], cast: Cast): void {
  const found = personsIn(tokens, cast);
  const verb = tokens.findIndex(({ pos }) => pos === 'VERB' || pos === 'AUX');
  const subject = found.find(({ place }) => place < Math.max(verb, 1));
  const begins = tokens.slice(0, Math.max(verb, 1)).some(({ lower }) => /^(?:user|he|she|i)$/.test(lower));
  cast.others = found.map(({ being }) => being).filter(({ label }) => label !== cast.user.label);
  cast.subject = subject?.being ?? (begins ? cast.user : null);
  cast.user = { ...cast.user, gender: cast.user.gender ?? genderOfUser(tokens, begins, found.length) };
  cast.pronouns = new Set(
    tokens.map(({ lower }) => lower).filter((lower) => /^(?:he|him|his|she|her|hers)$/.test(lower)),
  );
  cast.all = [...cast.all.filter(({ label }) => !cast.others.some((one) => one.label === label)), ...cast.others];
}

/** "The user corrected herself", "user parks his car": of a sentence that mentions nobody else. */
function genderOfUser(tokens: readonly Token[], beginsWithUser: boolean, others: number): Being['gender'] {
  if (!beginsWithUser || !tokens.some(({ lower }) => lower === 'user')) return null;
  const has = (words: RegExp): boolean => tokens.some(({ lower }) => words.test(lower));
  if (has(/^herself$/)) return 'f';
  if (has(/^himself$/)) return 'm';
  if (others > 0) return null;
  const [isFemale, isMale] = [has(/^(?:she|her)$/), has(/^(?:he|his|him)$/)];
  return isFemale === isMale ? null : isFemale ? 'f' : 'm';
}

/** "Anna said that she moved": the speaker is the one whom "she" means. */
export function meetSpeaker(speaker: string, cast: Cast): void {
  const isUser =
    /user$/i.test(speaker) ||
    /^(?:she|he|they)$/i.test(speaker) ||
    [cast.user.label, ...cast.userNames].includes(speaker);
  const being = isUser ? cast.user : nameOf(speaker.split(' '), cast);
  cast.subject = being;
  cast.others = isUser ? [] : [being];
}

/** Returns the person meant by "she" or "his" at the start of a sentence; null where that is not certain. */
export function resolve(pronoun: string, cast: Cast, { isSpeech }: { isSpeech: boolean }): Being | null {
  const gender = /^(?:she|her|hers)$/.test(pronoun) ? 'f' : 'm';
  const fits = (being: Being): boolean => being.gender === null || being.gender === gender;
  const near = cast.others.filter(fits);
  const userFits = !isSpeech && fits(cast.user);
  if (near.length === 0 && userFits) return { ...cast.user, gender };
  // "Dr. Amissah raised her dose. Her next check …": the dose is the user's.
  const mayBeUsers = userFits && [...cast.pronouns].some((one) => /^(?:she|her|hers)$/.test(one) === (gender === 'f'));
  if (cast.subject !== null && cast.subject.label !== cast.user.label && fits(cast.subject) && near.length === 1)
    return mayBeUsers || (userFits && (/^(?:his|her)$/.test(pronoun) || cast.subject.isAnimal === true))
      ? null
      : cast.subject;
  const isUsersTurn = cast.subject?.label === cast.user.label && cast.user.gender === gender;
  if (userFits && isUsersTurn && near.every((one) => one.gender === null)) return cast.user;
  if (userFits) return null;
  if (near.length === 1) return near[0] ?? null;
  const known = near.length === 0 ? cast.all.filter(({ gender: one }) => one === gender) : [];
  return known.length === 1 ? (known[0] ?? null) : null;
}

interface Person {
  readonly being: Being;
  readonly place: number;
}

/** The persons whom a sentence names, or calls "his sister". */
function personsIn(tokens: readonly Token[], cast: Cast): Person[] {
  const persons: Person[] = [];
  for (let place = 0; place < tokens.length; place += 1) {
    const { lower = '' } = tokens[place] ?? {};
    const name = nameAt(tokens, place);
    if (relationWord.test(lower)) {
      const own = nameAt(tokens, place + (tokens[place + 1]?.lower === ',' ? 2 : 1));
      const gender = female.test(lower) ? 'f' : male.test(lower) ? 'm' : null;
      persons.push({ being: kinOf(lower, own, gender), place });
      place += own.length === 0 ? 0 : own.length + (tokens[place + 1]?.lower === ',' ? 1 : 0);
    } else if (name.length > 0) {
      if (isPersonName(tokens, place, name, cast)) persons.push({ being: nameOf(name, cast), place });
      place += name.length - 1;
    }
  }
  return persons;
}

function kinOf(noun: string, name: readonly string[], gender: Being['gender']): Being {
  const label = name.length > 0 ? name.join(' ') : `User's ${noun}`;
  return { name: name.length > 0 ? label : `user's ${noun}`, label, gender, isAnimal: animals.test(noun) };
}

function nameOf(name: readonly string[], { userNames, user, all }: Cast): Being {
  const label = name.join(' ');
  if (userNames.includes(label)) return { ...user, name: userSubject };
  const gender = female.test(name[0] ?? '') ? 'f' : male.test(name[0] ?? '') ? 'm' : null;
  return all.find((one) => one.label === label) ?? { name: label, label, gender };
}

function nameAt(tokens: readonly Token[], place: number): string[] {
  const name: string[] = [];
  for (const { pos, text } of tokens.slice(place)) {
    if (pos !== 'PROPN' || !/^\p{Lu}/u.test(text) || things.test(text) || name.length > 3) break;
    name.push(text);
  }
  return name;
}

/** A name that stands where a person does: before a verb or "'s", after "with", or with a title. */
function isPersonName(tokens: readonly Token[], place: number, name: readonly string[], { text }: Cast): boolean {
  const before = tokens[place - 1]?.lower ?? '';
  const next = tokens[place + name.length];
  if (female.test(name[0] ?? '') || male.test(name[0] ?? '') || /^Drs?\.?$/.test(name[0] ?? '')) return true;
  if (places.test(before) || before === 'the' || /^St\.?$/.test(name[0] ?? '') || isPeople.test(name.join(' ')))
    return false;
  if (place === 0 && name.length === 1 && isCommonWord(name[0] ?? '') && !isNameElsewhere(name[0] ?? '', text))
    return false;
  return (
    next === undefined ||
    /^(?:with|and|by|for|called|named|friend|colleague|neighbour)$/.test(before) ||
    next.lower === "'s" ||
    /^(?:VERB|AUX|ADV)$/.test(next.pos) ||
    /^(?:,|and|who|whose)$/.test(next.lower)
  );
}

/** "Passport expires": a common word at the start of a sentence is no name, unless it is written so elsewhere. */
function isNameElsewhere(word: string, text: string): boolean {
  return new RegExp(`[\\p{Ll},] ${word}\\b`, 'u').test(text);
}

/** Of whom or what a statement speaks: the user, unless its first words name somebody else. */
export function subjectOf(before: readonly Token[], cast: Cast): Being {
  if (before.some(({ lower }, place) => /^(?:user|the user|i|we)$/.test(lower) && before[place + 1]?.lower !== "'s"))
    return cast.user;
  const [person] = personsIn([...before, { text: 'is', lower: 'is', pos: 'AUX', lemma: 'be', space: ' ' }], cast);
  if (person === undefined) return { name: userSubject, label: toSentence(before), gender: null, isThing: true };
  const { being, place } = person;
  // "Farid's mother", "his sister's flat": of somebody's relative, or of a thing.
  const owner = before.findIndex(({ lower }) => lower === "'s");
  if (being.label === cast.user.label)
    return owner < 0 ? cast.user : { ...userBeing, label: toSentence(before), isThing: true };
  const isOwned = owner > place;
  if (isOwned && !before.slice(owner).some(({ lower }) => relationWord.test(lower)))
    return { name: userSubject, label: toSentence(before), gender: null, isThing: true };
  if (isOwned) {
    const label = toSentence(before);
    return { name: label, label, gender: null };
  }
  return being;
}
