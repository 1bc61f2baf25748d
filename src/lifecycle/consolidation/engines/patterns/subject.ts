import type { Clause } from './clauses.ts';
import type { Sentence } from './own-speech.ts';
import { relationNouns } from './relations.ts';
import { toSentence, userBeing, type Being } from './render.ts';
import { userSubject } from './statement.ts';
import { isCommonWord, type Token } from './tags.ts';

/** What the sentences so far have introduced. */
export interface Reading {
  readonly observedAt: Date;
  /** The whole episode. */
  readonly text: string;
  /** Names of the user. */
  readonly userNames: readonly string[];
  /** The writer is a butler who tells of the user: "I" is not the user. */
  readonly isAgentTelling: boolean;
  isPlainSpeech: boolean;
  /** The episode speaks of "the user". */
  readonly isAgentNamed: boolean;
  /** The being that "he" or "she" refers to: the last one mentioned. */
  being: Being;
  user: Being;
  /** Of whom or what the clause before speaks; null for the butler. */
  subject: Being | null;
  /** The last name that was mentioned, of whom "she" may speak in the user's own words. */
  name: string | null;
  /** The relative whom the user mentioned last: "my dad". */
  kin: Being | null;
  /** The sentence before names somebody whom the user met. */
  isAmbiguous: boolean;
  /** What "it" may mean: "the boat". */
  thing: string | null;
}

const things =
  /^(?:rent|post|yoga|coffee|honey|key|keys|physiotherapy|peanuts|coriander|meat|school|dinner|lunch|work|handover|rehearsals?|choir|guests?|politics|reads|sleeps|wants|likes|gig|next|last|moving|address|summary|payment|delivery|parking|internet|electricity|insurance|weight|sunday|monday|tuesday|wednesday|thursday|friday|saturday)s?$/i;

const mentioned =
  /(?<!\b(?:in|to|at|from|near|for|of|on|via|the) )(?<![\p{L}])(?<name>(?:Mrs?\.? |Dr\.? |Ms\.? )?\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)(?=$|[ ,.']|'s)/gu;
const object =
  /\b(?:an?|our|my) (?:[\p{L}\d-]+ ){0,2}?(?<thing>[\p{L}-]{3,})(?= together| last|,|$| in| at| from| for| that)/u;

const kin = new RegExp(`\\b(?:[Mm]y|[Oo]ur) (?<noun>${relationNouns})\\b`, 'u');

/** Remembers whom and what a sentence mentions, for the pronouns of the next one. */
export function meet(text: string, reading: Reading): void {
  const names = [...text.matchAll(mentioned)]
    .map(({ groups, index }) => ({ name: groups?.['name'] ?? '', index }))
    .filter(
      ({ name, index }) =>
        (index > 0 || text.includes(`${name}'s`)) && !things.test(name) && !/^(?:I|User)$/.test(name),
    );
  reading.name = names.at(-1)?.name ?? reading.name;
  reading.isAmbiguous = /\b(?:talked|spoke|met|called|saw|visited|wrote)\b(?: to| with)? \p{Lu}\p{Ll}+/u.test(text);
  const introduced = new RegExp(
    `^(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) (?:\\p{L}+ )?(?:${relationNouns}),? (?<own>\\p{Lu}\\p{L}+)|[^,]{0,60}\\b(?:with|to) (?<name>(?:Mrs?\\.? |Dr\\.? )?\\p{Lu}\\p{L}+)(?: about .*)?)$`,
    'u',
  ).exec(text.replace(/[.]$/, ''))?.groups;
  const name = introduced?.['own'] ?? introduced?.['name'];
  if (name !== undefined && !reading.isAgentNamed) reading.being = personNamed(name, reading);
  const relative = kin.exec(text)?.groups?.['noun'];
  if (relative !== undefined)
    reading.kin = {
      name: `user's ${relative}`,
      label: `User's ${relative}`,
      gender: female.test(relative) ? 'f' : male.test(relative) ? 'm' : null,
    };
  reading.thing = object.exec(text)?.groups?.['thing'] ?? reading.thing;
}

export function meetSpeaker(speaker: string, reading: Reading): void {
  if (/user/i.test(speaker)) reading.being = reading.user;
  else if (!/^(?:she|he|they)$/i.test(speaker)) reading.being = personNamed(speaker, reading);
}

function personNamed(name: string, { userNames }: Reading): Being {
  return userNames.includes(name)
    ? { name: userSubject, label: name, gender: null }
    : { name, label: name, gender: null };
}

/** What a clause is read with. */
export interface Circumstances {
  readonly isFirst: boolean;
  readonly sentence: Sentence;
  readonly isWhole: boolean;
}

interface Subject {
  readonly being: Being;
  /** The clause does not name it. */
  readonly isImplicit: boolean;
}

const personal =
  /^(?:sold|bought|moved|quit|stopped|started|gave|joined|left|got|became|switched|changed|registered|adopted|married|retired|broke|lost|won|passed|sleeps|ate|ran|grew|studied|owns|prefers|hates|likes)$/;
const relationAtEnd = new RegExp(
  `^(?:${relationNouns}|twins|kids|children|sons|daughters|parents|boss|cleaner|carer|godfather|mother-in-law)$`,
  'i',
);
const female =
  /^(?:mother|mum|mom|sister|daughter|wife|girlfriend|fiancée|aunt|niece|grandmother|grandma|mother-in-law|sister-in-law|landlady|goddaughter|granddaughter|mrs|ms|frau)$/i;
const male =
  /^(?:father|dad|brother|son|husband|boyfriend|fiancé|uncle|nephew|grandfather|grandpa|father-in-law|brother-in-law|godfather|grandson|mr|herr)$/i;

/** Of whom or what a clause speaks; null when that is the butler, or nobody knows. */
export function findSubject(
  clause: Clause,
  verb: number,
  reading: Reading,
  { isFirst, sentence }: Circumstances,
): Subject | null {
  const before = clause.tokens.slice(0, verb).filter(({ pos }) => pos !== 'ADV' && pos !== 'INTJ');
  const last = before.at(-1);
  if (last === undefined || clause.sharesSubject) return findImplicit(clause, verb, reading, isFirst, sentence);
  if (/^(?:i|we)$/.test(last.lower)) return isFirst ? { being: userBeing, isImplicit: false } : null;
  if (/^(?:he|she)$/.test(last.lower)) return resolve(last.lower, reading, isFirst);
  if (last.lower === 'it' && before.length === 1 && reading.thing !== null && isFirst && isPlace(clause.tokens, verb))
    return { being: userBeing, isImplicit: false };
  if (
    /^(?:it|this|that|there|you|they|these|those|one|nobody|everyone|who|which|what)$/.test(last.lower) &&
    before.length === 1
  )
    return null;
  const user = before.findIndex(({ lower }) => lower === 'user');
  if (user >= 0 && before[user + 1]?.lower !== "'s") return { being: reading.user, isImplicit: false };
  return { being: findBeing(before, reading), isImplicit: false };
}

/** "It is in the harbour", and not "it is Thursday". */
function isPlace(tokens: readonly Token[], verb: number): boolean {
  return (
    /^(?:is|has|was|costs|needs)$/.test(tokens[verb]?.lower ?? '') &&
    /^(?:ADP|DET|NUM|VERB)$/.test(tokens[verb + 1]?.pos ?? '')
  );
}

function resolve(pronoun: string, reading: Reading, isFirst: boolean): Subject | null {
  const { being, user, name } = reading;
  const gender = pronoun === 'she' ? 'f' : 'm';
  if (isFirst && being.name === userSubject && reading.kin?.gender === gender)
    return { being: reading.kin, isImplicit: false };
  if (isFirst && being.name === userSubject && name !== null)
    return { being: personNamed(name, reading), isImplicit: false };
  // "User talked to Maria. She is a lawyer": nobody can tell who.
  if (!isFirst && being.name === userSubject && reading.isAmbiguous) return null;
  if (being.gender !== null && being.gender !== gender) return isFirst ? null : { being: user, isImplicit: false };
  if (isFirst && being.name === userSubject) return null;
  return { being: { ...being, gender }, isImplicit: false };
}

function findImplicit(
  { tokens, sharesSubject, link, antecedent }: Clause,
  verb: number,
  reading: Reading,
  isFirst: boolean,
  sentence: Sentence,
): Subject | null {
  if (link === 'who' && antecedent.length > 0)
    return {
      being: antecedent.some(({ lower }) => lower === 'user') ? reading.user : findBeing(antecedent, reading),
      isImplicit: true,
    };
  if (sharesSubject) return reading.subject === null ? null : { being: reading.subject, isImplicit: true };
  const { lower, lemma, pos } = tokens[verb] ?? { lower: '', lemma: '', pos: 'X' };
  const isThird =
    pos === 'AUX' ? /^(?:is|has|does|can|cannot|will|must)$/.test(lower) : lower.endsWith('s') && lower !== lemma;
  const isUsers = isThird || personal.test(lower);
  if (!isUsers || (sentence.voice === 'user' && isThird && !personal.test(lower)))
    return isFirst && /^(?:passed|sold|bought|moved|quit|dropped|ordered|got|started|stopped)$/.test(lower)
      ? { being: userBeing, isImplicit: true }
      : isUsers && !isFirst
        ? { being: reading.user, isImplicit: true }
        : null;
  return { being: reading.user, isImplicit: true };
}

function findBeing(before: readonly Token[], reading: Reading): Being {
  const nouns = before.filter(({ pos }) => /^(?:NOUN|PROPN)$/.test(pos));
  const relation = nouns.find(({ lower }) => relationAtEnd.test(lower));
  const gender = before.some(({ lower }) => female.test(lower))
    ? 'f'
    : before.some(({ lower }) => male.test(lower))
      ? 'm'
      : null;
  const names = namesIn(before, reading);
  const name = (relation === undefined ? names[0] : names.at(-1)) ?? null;
  if (name !== null && (before.at(-1)?.pos !== 'NOUN' || relation !== undefined))
    return { ...personNamed(name, reading), gender };
  const owner = before.findIndex(({ lower }) => lower === "'s");
  if (relation !== undefined && owner > 0 && before[owner - 1]?.lower !== 'user') {
    const label = toSentence(before);
    return { name: label, label, gender };
  }
  if (relation !== undefined) return { name: `user's ${relation.lower}`, label: `User's ${relation.lower}`, gender };
  return { name: userSubject, label: toSentence(before), gender: null, isThing: true };
}

/** The names in a phrase that are its own: not those of owners ("Farid's mother") and places ("the return from Porto"). */
function namesIn(tokens: readonly Token[], { text }: Reading): string[] {
  const names: string[] = [];
  let current: string[] = [];
  for (const [place, token] of [...tokens, null].entries()) {
    const isName =
      token?.pos === 'PROPN' && /^\p{Lu}/u.test(token.text) && !things.test(token.text) && token.lower !== 'user';
    if (token !== null && isName) current.push(token.text);
    else {
      const start = place - current.length;
      const followsPlace = tokens[start - 1]?.pos === 'ADP';
      if (current.length > 0 && token?.lower !== "'s" && !followsPlace && isPerson(current, start, text))
        names.push(current.join(' '));
      current = [];
    }
  }
  return names;
}

/** "Passport expires": a common word at the start of a sentence is no name, unless it is written so elsewhere. */
function isPerson([first = '', ...others]: readonly string[], start: number, text: string): boolean {
  if (start > 0 || others.length > 0 || !isCommonWord(first)) return true;
  return new RegExp(`[\\p{Ll},] ${first}\\b`, 'u').test(text);
}
