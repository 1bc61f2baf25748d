import { predicateKey } from '../../memory/facts/lexicon.ts';
import type { KnownPeople } from '../../db/queries/known-people.ts';
import { readExpectedAnswer, type ExpectedAnswer } from './expected-answer.ts';
import { identityFacts } from '../context/identity.ts';
import { findIntroduced, findUserNames, listRelatives } from './introductions.ts';
import { listRelationPredicates, listRelationWords, relationWords, relationsByWord } from './relations.ts';

/** What a question says about people, before it is known who they are. */
export interface Question {
  text: string;
  /** Each run of up to four words, in the form of keys: a subject that is named is one of them. */
  keys: string[];
  /** The relations that it names, by the word or phrase. */
  relations: ReadonlyMap<string, string>;
  /** Predicates of the facts that say who these are, and what the user is called. */
  predicates: string[];
  /** Words of sentences that say who these are: names, and what relations are called. */
  introducing: string[];
  expected: ExpectedAnswer;
}

/**
 * The person or thing that a question is about. `named` is a known subject, `perhapsUser` one who may be the user, as
 * nothing tells what the user is called, `relation` somebody whom a fact of the user tells ("my wife"), `user`
 * the user by name, `self` the speaker, `pronoun` somebody who is not named ("he"), which is mostly the user, and `open`
 * nobody in particular.
 */
export interface Whom {
  kind: 'named' | 'perhapsUser' | 'relation' | 'user' | 'mentioned' | 'self' | 'pronoun' | 'open';
  /** The question without the name or relation: what it asks about them. */
  meaning: string;
  /** Keys of the subjects whose facts it asks for. */
  subjects: ReadonlySet<string>;
  /** Their names, in lower case. */
  names: readonly string[];
  /** Predicates that say who they are. */
  relations: ReadonlySet<string>;
  /** Whether it speaks of a person at all. */
  isPersonal: boolean;
  /** Words in lower case that are written as names are, of nobody who is known. */
  otherNames: readonly string[];
}

/** Subjects that are the user, and those that belong to the user. */
export const ownSubjects: ReadonlySet<string> = new Set([
  ...identityFacts.subjects,
  'self',
  'i',
  'family',
  'household',
  'home',
  'house',
  'we',
  'us',
]);

const namePredicates = ['name', 'full_name', 'first_name', 'last_name', 'surname', 'nickname', 'preferred_name'].map(
  predicateKey,
);
const calledPredicates = ['called', 'goes_by', 'prefers_to_be_called'].map(predicateKey);
/** A longer text is a prompt: it may speak of many people, and no single one is left out of its meaning. */
const mostWords = 60;
const longestName = 4;

/** Reads whom a question names. Null for a text that is too long to be one. */
export function readQuestion(given: string): Question | null {
  const text = nameInLaws(given);
  const words = listWords(text);
  if (words.length > mostWords) return null;
  const keys = new Set<string>();
  for (const place of words.keys())
    for (let size = 1; size <= longestName; size++) keys.add(words.slice(place, place + size).join('_'));
  const relations = findRelations([...keys]);
  const named = [...new Set(relations.values())];
  const asked = named.flatMap(listRelationPredicates);
  const predicates = [...namePredicates, ...calledPredicates, ...asked];
  const introducing = [...new Set([...listNames(text), ...named.flatMap(listRelationWords)])].slice(0, mostIntroducing);
  return { text, keys: [...keys], relations, predicates, introducing, expected: readExpectedAnswer(text) };
}

const mostIntroducing = 24;

export function resolveWhom(question: Question, people: KnownPeople): Whom {
  const { own, introductions } = people;
  const words = new Set(listWords(question.text));
  const allUserNames = [...listUserNames(own), ...findUserNames(introductions)];
  const userNames = allUserNames.filter((name) => words.has(name));
  const named = findNamed(question, people).filter(
    (subject) => !listWords(subject).every((word) => userNames.includes(word)),
  );
  const personal = [...words].some((word) => selfWords.has(word));
  // Where nothing tells what the user is called, somebody who is no relative of the user may be the user.
  const relatives = allUserNames.length > 0 ? null : listRelatives(introductions);
  const mayBeUser = (subject: string): boolean =>
    relatives !== null && !listWords(subject).some((word) => relatives.has(word) || relationWords.has(word));
  const perhapsUser = named.filter(mayBeUser).flatMap(listWords);
  const related = findRelated(question, people, [...allUserNames, ...perhapsUser]);
  const isPersonal =
    personal ||
    named.length + userNames.length > 0 ||
    related !== null ||
    hasDeterminedRelation(question) ||
    hasThirdPerson(words);
  const knownNames = new Set([...named.flatMap(listWords), ...userNames]);
  const otherNames = listNames(question.text).filter((name) => !knownNames.has(name));
  const none = { subjects: new Set<string>(), names: [], relations: new Set<string>(), isPersonal, otherNames };
  const relations = new Set([...question.relations.values()].flatMap(listRelationPredicates));
  const spoken = [...question.relations.keys()].map((key) => key.replaceAll('_', ' '));
  if (related !== null && (named.every(mayBeUser) || related.isOfNamed)) {
    const meaning = leaveOut(question.text, [...userNames, ...named.flatMap(listWords)]);
    const { subjects, names } = related;
    return { ...none, kind: 'relation', meaning: leaveOut(meaning, spoken), subjects, names, relations };
  }
  if (named.length > 0) {
    const names = named.flatMap(listWords);
    const meaning = leaveOut(question.text, [...names, ...userNames]);
    return {
      ...none,
      kind: named.every(mayBeUser) ? 'perhapsUser' : 'named',
      meaning,
      subjects: new Set(named.map(asKey)),
      names,
    };
  }
  const meaning = leaveOut(question.text, userNames);
  if (userNames.length > 0) return { ...none, kind: 'user', meaning, subjects: ownSubjects };
  const mentioned = otherNames.filter((name) => introductions.some(({ content }) => mentionsName(content, name)));
  if (mentioned.length > 0) return { ...none, kind: 'mentioned', meaning: question.text, names: mentioned };
  if (personal) return { ...none, kind: 'self', meaning, subjects: ownSubjects };
  return { ...none, kind: hasThirdPerson(words) ? 'pronoun' : 'open', meaning: question.text };
}

/** Returns the subjects that a question names: in full, or "Marit" for "Marit Haugland". */
function findNamed({ text }: Question, { subjects, introductions }: KnownPeople): string[] {
  const names = new Set(listNames(text));
  const whole = subjects.filter((subject) => /^\p{Lu}/u.test(subject));
  const partly = introductions.filter(({ subject }) => listOwnNames(subject).some((word) => names.has(word)));
  return [...new Set([...whole, ...partly.map(({ subject }) => subject)])].filter(
    (subject) => !ownSubjects.has(asKey(subject)),
  );
}

/** Lists the names of a subject, without those of whom it belongs to: "Solène's brother Mathieu" is not Solène. */
function listOwnNames(subject: string): string[] {
  return listCapitalised(subject.replaceAll(/[\p{L}\p{M}]+['’]s\b/gu, ''));
}

function mentionsName(content: string, name: string): boolean {
  return listCapitalised(content).includes(name);
}

/** Lists words with a capital letter, in lower case. */
function listCapitalised(text: string): string[] {
  return (text.replaceAll(/['’]s\b/g, '').match(/\p{Lu}[\p{L}\p{M}]+/gu) ?? []).map((word) => word.toLowerCase());
}

/** Whether it speaks of somebody's relation: "my dog", "Ada's brother", and not "dogs". */
function hasDeterminedRelation({ text, relations }: Question): boolean {
  return [...relations.keys()].some((key) =>
    new RegExp(`(?:\\b(?:my|our|the|his|her|their)|['’]s) (?:\\p{Ll}+ )?${key.replaceAll('_', '[\\s-]+')}`, 'iu').test(
      text,
    ),
  );
}

const selfWords: ReadonlySet<string> = new Set(['i', 'me', 'my', 'mine', 'myself', 'we', 'us', 'our', 'ours', 'user']);
const thirdPerson = ['he', 'him', 'his', 'she', 'her', 'hers', 'they', 'them', 'their'];

function hasThirdPerson(words: ReadonlySet<string>): boolean {
  return thirdPerson.some((word) => words.has(word));
}

/** The longest phrases first: a mother-in-law is no mother. */
function findRelations(keys: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const key of keys.toSorted((a, b) => b.length - a.length)) {
    const spoken = [key, key.replace(/s$/, '')].find((one) => relationsByWord.has(one));
    const isPart = [...found.keys()].some((longer) => `_${longer}_`.includes(`_${key}_`));
    if (spoken !== undefined && !isPart) found.set(key, relationsByWord.get(spoken) as string);
  }
  return found;
}

interface Related {
  subjects: ReadonlySet<string>;
  names: string[];
  /** Whether it is the relation of somebody who is named: "Ada's brother". */
  isOfNamed: boolean;
}

/** Finds who is meant by the relations of a question: by facts of the user, and by sentences that introduce them. */
function findRelated(
  { text, relations }: Question,
  { own, known, introductions }: KnownPeople,
  userNames: readonly string[],
): Related | null {
  const subjects = new Set<string>();
  const names = new Set<string>();
  let isOfNamed = false;
  for (const [key, relation] of relations) {
    const possessor = findPossessor(text, key, userNames);
    if (possessor === null) {
      const predicates = listRelationPredicates(relation);
      const told = own
        .filter(({ predicate }) => predicates.includes(predicate))
        .map(({ content }) => joinWords(content));
      for (const subject of known.filter((one) => told.some((content) => content.includes(`_${one}_`))))
        subjects.add(subject);
    }
    const introduced = findIntroduced({ relation, possessor }, introductions, userNames);
    for (const subject of introduced.subjects) subjects.add(asKey(subject));
    for (const name of introduced.names) {
      for (const word of name) names.add(word);
      const parts = (one: string): string[] => one.split('_');
      for (const one of known) if (one === name.join('_') || parts(one).includes(name[0] ?? '')) subjects.add(one);
    }
    if (possessor !== null && introduced.names.length + introduced.subjects.length > 0) isOfNamed = true;
  }
  for (const subject of ownSubjects) subjects.delete(subject);
  for (const subject of subjects) for (const word of subject.split('_')) if (!isPlain(word)) names.add(word);
  if (subjects.size === 0 && names.size === 0) return null;
  return { subjects, names: [...names], isOfNamed };
}

/** Whether a word of a subject is no name: "user's_daughter". */
function isPlain(word: string): boolean {
  return relationsByWord.has(word) || /^(?:user)?(?:['’]s)?$|['’]s$/.test(word) || relationWords.has(word);
}

function joinWords(text: string): string {
  return `_${listWords(text).join('_')}_`;
}

/** Returns whose relation it is, in lower case; null for the user's. */
function findPossessor(text: string, key: string, userNames: readonly string[]): string | null {
  const pattern = new RegExp(`(\\p{Lu}[\\p{L}\\p{M}]+)['’]s (?:\\p{Ll}+ )?${key.replaceAll('_', '[\\s-]+')}`, 'u');
  const owner = pattern.exec(text)?.[1]?.toLowerCase() ?? null;
  return owner === null || owner === 'user' || userNames.includes(owner) ? null : owner;
}

/** Lists words with a capital letter that does not begin a sentence, or with an "'s": "Ada's brother". */
function listNames(text: string): string[] {
  const found = text.matchAll(/(?<=[^\s.!?:"“]\s+["“]?)\p{Lu}[\p{L}\p{M}]{2,}|\p{Lu}[\p{L}\p{M}]+(?=['’]s\b)/gu);
  const names = [...found].map(([name]) => name.toLowerCase()).filter((name) => !notNames.has(name));
  return [...new Set(names)];
}

const notNames: ReadonlySet<string> = new Set([
  'user',
  'what',
  'who',
  'where',
  'when',
  'how',
  'that',
  'it',
  'there',
  'here',
  'let',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
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
  'christmas',
  'easter',
]);

/** A name ends where something else is said: "Tomasz Wierzba, Tom to his friends". */
function listUserNames(own: KnownPeople['own']): string[] {
  return own
    .filter(({ predicate }) => [...namePredicates, ...calledPredicates].includes(predicate))
    .flatMap(({ content }) => content.split(/[,;:(.]/)[0]?.match(/\p{Lu}[\p{L}\p{M}]+/gu) ?? [])
    .filter((word) => !/^(Mr|Mrs|Ms|Miss|Dr)$/.test(word))
    .map((word) => word.toLowerCase());
}

/** Leaves words out, with what belongs to them: "my", "the", "'s". The text as it is, if nothing else says what it asks. */
function leaveOut(text: string, words: readonly string[]): string {
  if (words.length === 0) return text;
  const alternatives = words.map((word) => word.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '[\\s-]+')).join('|');
  const pattern = new RegExp(
    `(?<!${letter})((my|our|the|his|her)\\s+)?(${alternatives})s?(['’]s)?(?!${letter})`,
    'giu',
  );
  const left = text.replace(pattern, ' ').replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}]{3}/u.test(left) ? left : text;
}

const letter = String.raw`[\p{L}\p{N}\p{M}]`;

/** "my wife's father" is the father-in-law. */
function nameInLaws(text: string): string {
  return text.replace(
    /\b(?:wife|husband|partner|spouse)['’]s (father|mother|sister|brother|dad|mum|mom)\b/gi,
    (_, parent: string) => `${relationsByWord.get(parent.toLowerCase()) ?? parent}-in-law`,
  );
}

function listWords(text: string): string[] {
  return (
    text
      .replaceAll(/['’]s\b/g, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  );
}

/** As the function memory_key of the database does. */
function asKey(subject: string): string {
  return subject.toLowerCase().replaceAll(/[\s_-]+/g, '_');
}
