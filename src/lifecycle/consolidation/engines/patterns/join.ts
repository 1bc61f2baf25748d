import { findVerb } from './clauses.ts';
import { permanenceOf } from './permanence.ts';
import type { Found } from './read-episode.ts';
import type { FactStatement } from './statement.ts';
import { tag } from './tags.ts';

/** It begins with a word that only the sentence before explains. */
const points =
  /^(?:(?:It|Its|They|Their|This|That|These|Those|Both|Neither|There|He|She|His|Her)\b(?! (?:is|are|was|were) (?:an?|no|\d))|(?:The )?(?:new |booking |order |policy )?(?:reference|number|fee|deposit)\b(?! of))/i;
/** "Starts there 1 May": where that is stands before. */
const there = /^(?:User )?\p{L}+(?:s|ed) (?:\S+ ){0,3}there\b/u;
/** "Then we moved it to Thursday": what was moved stands before. */
const changing =
  /^(?:User |He |She |We |They )?(?:moved|changed|postponed|pushed|put|brought|shifted|switched|raised|lowered|cut) (?:it|them)\b/u;
/** A longer note says too much at once. */
const lengthLimit = 240;

/** A statement that was judged, as it would be kept. */
export interface Judged extends Found {
  readonly isNews: boolean;
}

/**
 * Joins a sentence that is worth keeping and points back with the one that it points to: alone, nobody could find or
 * understand it.
 */
export function joinPointing<T extends Judged>(judged: readonly T[], content: string): T[] {
  const joined: T[] = [];
  for (const one of judged) {
    const before = joined.at(-1);
    const isAlone = judged.filter(({ quote }) => quote === one.quote).length === 1;
    const both = before === undefined || !isAlone ? null : join(before, one, content);
    if (both === null) joined.push(one);
    else joined[joined.length - 1] = { ...one, ...both };
  }
  return joined;
}

function join(before: Found, one: Judged, content: string): Found | null {
  const [said, pointing] = [before.statement, one.statement];
  if (!one.isNews || said.says === 'rule' || pointing.says === 'rule') return null;
  if (!isPlainNote(said) || !isPlainNote(pointing)) return null;
  const isPointing = [points, there, changing].some((form) => form.test(pointing.content)) || isRest(before, one);
  if (!isPointing) return null;
  const start = content.lastIndexOf(before.quote, content.indexOf(one.quote));
  const quote = content.slice(start, content.indexOf(one.quote) + one.quote.length);
  const isNext = start >= 0 && /^[ \t]+$/.test(quote.slice(before.quote.length, quote.length - one.quote.length));
  const rest = pointing.content.replace(/^(?!User)\p{Lu}/u, (letter) => letter.toLowerCase());
  const text = `${said.content}; ${rest}`;
  if (!isNext || text.length > lengthLimit) return null;
  const isEnded = said.isEnded || pointing.isEnded;
  return { statement: { ...said, content: text, isEnded, permanence: permanenceOf(text) }, quote };
}

/** "New place from Saturday: Solvoll": of what is said before. */
const comparing = /^(?:New|Old|Same|Other|Former|Previous|Until then|Since then|After that)\b/;

/** "Passport renewed; valid until 4 March": what follows has neither a subject nor a verb. */
function isRest(before: Found, { quote }: Found): boolean {
  const isNext = before.quote.endsWith(';') && /^\p{Ll}/u.test(quote);
  if (isNext && /\b(?:it|its|there|them)\b/.test(quote)) return true;
  return (isNext || comparing.test(quote)) && findVerb(tag(quote)) < 0;
}

function isPlainNote({ predicate, isEvent, threshold, doubts }: FactStatement): boolean {
  return predicate === null && !isEvent && threshold !== null && doubts.length === 0;
}
