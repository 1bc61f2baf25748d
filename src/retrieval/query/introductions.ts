import type { Introduction } from '../../db/queries/known-people.ts';
import { listRelationWords, relationsByWord } from './relations.ts';

/** Somebody whom a question names by a relation: "my daughter", "Wouter's mother". */
export interface AskedRelation {
  relation: string;
  /** The person who has the relation, in lower case; null for the user. */
  possessor: string | null;
}

/** The people whom texts introduce. */
export interface Introduced {
  /** Names, in lower case, word by word. */
  names: string[][];
  /** Subjects that are called by the relation: "user's daughter", "Daughter Silje". */
  subjects: string[];
}

const title = String.raw`(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?`;
const name = String.raw`${title}(?<name>\p{Lu}[\p{L}\p{M}’'-]+(?: (?:(?:de|da|van|von|der|den|la|le) )*\p{Lu}[\p{L}\p{M}-]+){0,2})`;
/** What may stand between a name and its relation: "Trym, our old cat", "Pinda is the dog". */
const link = String.raw`(?:,? (?:is|was) |, | \(| )(?:(?:an?|the|our|my|his|her|their|[Uu]ser['’]s|the user['’]s) (?:[\p{Ll}-]+ ){0,2})`;
const named = String.raw`(?:,|:| is| was| are)?(?: called| named)? `;

/** Reads from sentences who is meant by a relation: "User's daughter Silje", "Horse: Blesa", "Trym, our cat". */
export function findIntroduced(
  { relation, possessor }: AskedRelation,
  introductions: readonly Introduction[],
  userNames: readonly string[],
): Introduced {
  const forms = joinForms(listRelationWords(relation));
  const { before, after } = describeIntroduction(forms);
  const called = new RegExp(String.raw`(?<![\p{L}])(?:${forms})s?(?![\p{L}])`, 'gu');
  const isMeant = (text: string, place: number): boolean => {
    const owner = findPossessor(text.slice(0, place));
    const isUsers = owner === null || owner === 'user' || userNames.includes(owner);
    return possessor === null ? isUsers : owner === possessor;
  };
  const names: string[][] = [];
  const subjects = new Set<string>();
  for (const { subject, content } of introductions) {
    if ([...subject.matchAll(called)].some(({ index }) => isMeant(subject, index))) subjects.add(subject);
    for (const text of [subject, content]) {
      for (const match of text.matchAll(before))
        if (isMeant(text, match.index)) names.push(splitName(match.groups?.['name']));
      if (possessor !== null) continue;
      for (const match of text.matchAll(after)) names.push(splitName(match.groups?.['name']));
    }
  }
  return { names, subjects: [...subjects] };
}

/** Patterns of a sentence that gives somebody who is called by a relation a name. */
function describeIntroduction(forms: string): { before: RegExp; after: RegExp } {
  return {
    before: new RegExp(String.raw`(?<![\p{L}])(?:${forms})s?${named}${name}`, 'gu'),
    after: new RegExp(String.raw`(?<![\p{L}])${name}${link}(?:${forms})(?![\p{L}])`, 'gu'),
  };
}

function joinForms(words: readonly string[]): string {
  return words.map(withAnyInitial).join('|');
}

const byAnyRelation = describeIntroduction(
  joinForms([...relationsByWord.keys()].map((key) => key.replaceAll('_', ' '))),
);

/** Returns the names of all whom texts introduce by a relation, word by word in lower case: they are not the user. */
export function listRelatives(introductions: readonly Introduction[]): ReadonlySet<string> {
  const { before, after } = byAnyRelation;
  const found = introductions.flatMap(({ content }) => [...content.matchAll(before), ...content.matchAll(after)]);
  return new Set(found.flatMap(({ groups }) => splitName(groups?.['name'])));
}

/** Returns what texts call the user: "The user is called Ruben Okafor". */
export function findUserNames(introductions: readonly Introduction[]): string[] {
  const pattern = new RegExp(
    String.raw`^(?:The )?[Uu]ser(?:['’]s (?:\p{Ll}+ )?name)?(?:,| is| introduced (?:him|her|them)self as)(?: called| named)? ${name}`,
    'u',
  );
  return introductions.flatMap(({ content }) => splitName(pattern.exec(content)?.groups?.['name']));
}

/** Reads the owner just before a relation: "Wouter's old " → "wouter". */
function findPossessor(text: string): string | null {
  return /(?<owner>[\p{L}\p{M}-]+)['’]s (?:\p{Ll}+ )?$/u.exec(text)?.groups?.['owner']?.toLowerCase() ?? null;
}

function splitName(text: string | undefined): string[] {
  return (text ?? '')
    .replaceAll(/['’]s\b/g, '')
    .toLowerCase()
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '' && word !== 'user');
}

function withAnyInitial(word: string): string {
  const first = word.charAt(0);
  return `[${first}${first.toUpperCase()}]${word.slice(1)}${word === 'gp' ? '|GP' : ''}`;
}
