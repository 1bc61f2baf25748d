import { createHash } from 'node:crypto';
import { lexiconTable, wordTable } from './lexicon-table.ts';
import { normalisePredicate } from './predicate-names.ts';

/** Predicates of one meaning. */
export interface PredicateGroup {
  /** The canonical name, which is the key of every name of the group. */
  key: string;
  /** The canonical name and its aliases. */
  names: readonly string[];
  gloss: string;
}

function readTable(table: string): PredicateGroup[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [list = '', gloss = ''] = line.split(': ');
      const names = list.split(' ');
      return { key: names[0] ?? '', names, gloss };
    });
}

export const predicateGroups: readonly PredicateGroup[] = readTable(lexiconTable);

const keys: ReadonlyMap<string, string> = new Map(
  predicateGroups.flatMap(({ key, names }) => names.map((name): [string, string] => [name, key])),
);

/** The gloss of each name of a group, and of each word that has one. */
const glosses: ReadonlyMap<string, string> = new Map(
  [...readTable(wordTable), ...predicateGroups].flatMap(({ names, gloss }) =>
    names.map((name): [string, string] => [name, gloss]),
  ),
);

/**
 * Returns what people would call the thing that a predicate names, so that a question in other words is near it: "dentist"
 * → "teeth, toothache, dental appointment". Explains the longest known parts of a predicate that it does not know as a
 * whole. Empty where it knows no part.
 */
export function findGloss(predicate: string): string {
  const words = normalisePredicate(predicate).split('_');
  const found: string[] = [];
  for (let start = 0; start < words.length;) {
    let end = words.length;
    while (end > start && !glosses.has(words.slice(start, end).join('_'))) end -= 1;
    found.push(...(glosses.get(words.slice(start, end).join('_'))?.split(', ') ?? []));
    start = Math.max(end, start + 1);
  }
  return [...new Set(found)].join(', ');
}

/** Returns the words of a predicate's gloss, in lower case. */
export function listGlossWords(predicate: string): string[] {
  return splitWords(findGloss(predicate));
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}

/** The words of all glosses. */
export const glossWords: readonly string[] = [...new Set([...glosses.values()].flatMap(splitWords))];

/** Changes whenever a fact is embedded in other words, or more is kept of what the model says: part of an embedding version, so that a change embeds anew. */
export const textForm = createHash('sha256')
  .update(
    `predicate, gloss: content (subject); note: content (name); keys of groups; signs of 64 tokens\n${lexiconTable}${wordTable}`,
  )
  .digest('hex')
  .slice(0, 16);

/**
 * Returns the key of a predicate: the canonical name of its group, so that `home_city` and `lives_in` are one thing, else its
 * normalised name. Two live facts of one scope, subject and key cannot be, save for the values of a predicate that holds
 * several.
 */
export function predicateKey(written: string): string {
  const name = normalisePredicate(written);
  // A name of symbols only has no words to normalise.
  return keys.get(name) ?? (name === '' ? written.trim().toLowerCase() : name);
}
