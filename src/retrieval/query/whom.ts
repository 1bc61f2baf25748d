import { predicateKey } from '../../memory/facts/lexicon.ts';
import type { KnownPeople } from '../../db/queries/known-people.ts';
import { identityFacts } from '../context/identity.ts';
import { listRelationPredicates, relationsByWord } from './relations.ts';

/** What a question says about people, before it is known who they are. */
export interface Question {
  text: string;
  /** Each run of up to four words, in the form of keys: a subject that is named is one of them. */
  keys: string[];
  /** The relations that it names, by the word or phrase. */
  relations: ReadonlyMap<string, string>;
  /** Predicates of the facts that say who these are, and what the user is called. */
  predicates: string[];
}

/**
 * The person or thing that a question is about. `named` is a known subject, `relation` somebody whom a fact of the user tells ("my wife"), `user`
 * the user by name, `self` the speaker, `pronoun` somebody who is not named ("he"), which is mostly the user, and `open`
 * nobody in particular.
 */
export interface Whom {
  kind: 'named' | 'relation' | 'user' | 'self' | 'pronoun' | 'open';
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

/** Returns whether a text asks who somebody is. */
export function asksWho(text: string): boolean {
  return /\b(who|whom|whose)\b/i.test(text);
}

/** Reads whom a question names. Null for a text that is too long to be one. */
export function readQuestion(given: string): Question | null {
  const text = nameInLaws(given);
  const words = listWords(text);
  if (words.length > mostWords) return null;
  const keys = new Set<string>();
  for (const place of words.keys())
    for (let size = 1; size <= longestName; size++) keys.add(words.slice(place, place + size).join('_'));
  const relations = findRelations([...keys]);
  const asked = [...new Set(relations.values())].flatMap(listRelationPredicates);
  return { text, keys: [...keys], relations, predicates: [...namePredicates, ...calledPredicates, ...asked] };
}

export function resolveWhom(question: Question, { subjects, own, known }: KnownPeople): Whom {
  const words = new Set(listWords(question.text));
  const named = subjects.filter((subject) => !ownSubjects.has(asKey(subject)) && /^\p{Lu}/u.test(subject));
  const userNames = listUserNames(own).filter((name) => words.has(name));
  const personal = [...words].some((word) => selfWords.has(word));
  const isPersonal = personal || named.length + userNames.length + question.relations.size > 0 || hasThirdPerson(words);
  const knownNames = new Set([...named.flatMap(listWords), ...userNames]);
  const otherNames = listNames(question.text).filter((name) => !knownNames.has(name));
  const none = { subjects: new Set<string>(), names: [], relations: new Set<string>(), isPersonal, otherNames };
  if (named.length > 0) {
    const names = named.flatMap(listWords);
    const meaning = leaveOut(question.text, [...names, ...userNames]);
    return { ...none, kind: 'named', meaning, subjects: new Set(named.map(asKey)), names };
  }
  const people = findRelated(question, own, known);
  const meaning = leaveOut(question.text, userNames);
  if (people.size > 0) {
    const relations = new Set([...question.relations.values()].flatMap(listRelationPredicates));
    const spoken = [...question.relations.keys()].map((key) => key.replaceAll('_', ' '));
    return {
      ...none,
      kind: 'relation',
      meaning: leaveOut(meaning, spoken),
      subjects: people,
      names: [...people].flatMap((key) => key.split('_')),
      relations,
    };
  }
  if (userNames.length > 0) return { ...none, kind: 'user', meaning, subjects: ownSubjects };
  if (personal) return { ...none, kind: 'self', meaning, subjects: ownSubjects };
  return { ...none, kind: hasThirdPerson(words) ? 'pronoun' : 'open', meaning: question.text };
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

/** Returns the subjects that facts of the user name for the relations of a question. */
function findRelated({ relations }: Question, own: KnownPeople['own'], known: readonly string[]): Set<string> {
  const asked = new Set([...relations.values()].flatMap(listRelationPredicates));
  const told = own
    .filter(({ predicate }) => asked.has(predicate))
    .map(({ content }) => `_${listWords(content).join('_')}_`);
  return new Set(known.filter((key) => !ownSubjects.has(key) && told.some((content) => content.includes(`_${key}_`))));
}

/** Lists words with a capital letter that does not begin a sentence. */
function listNames(text: string): string[] {
  const found = text.replaceAll(/['’]s\b/g, '').matchAll(/(?<=[^\s.!?:"“]\s+["“]?)\p{Lu}[\p{L}\p{M}]{2,}/gu);
  return [...found].map(([name]) => name.toLowerCase());
}

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
