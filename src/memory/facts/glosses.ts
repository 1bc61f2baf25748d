import { createHash } from 'node:crypto';
import { glossTable } from './gloss-table.ts';

/** The gloss of each name in the table. */
const glosses: ReadonlyMap<string, string> = new Map(
  glossTable
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [names = '', gloss = ''] = line.split(': ');
      return names.split(' ').map((name): [string, string] => [name, gloss]);
    }),
);

/** Spellings that the table does not list. */
const spellings: Readonly<Record<string, string>> = {
  favourite: 'favorite',
  neighbour: 'neighbor',
  neighbours: 'neighbors',
  behaviour: 'behavior',
  jewellery: 'jewelry',
  licence: 'license',
  theatre: 'theater',
  tyres: 'tires',
  rubbish: 'trash',
};

/**
 * Returns what people would call the thing that a predicate names, so that a question in other words is near it: "dentist"
 * → "teeth, toothache, dental appointment". Explains the longest known parts of a predicate that it does not know as a
 * whole. Empty where it knows no part.
 */
export function findGloss(predicate: string): string {
  const words = predicate
    .toLowerCase()
    .split(/[\s_-]+/)
    .map((word) => spellings[word] ?? word);
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

/** Changes whenever a fact is embedded in other words: part of an embedding version, so that a change embeds anew. */
export const textForm = createHash('sha256')
  .update(`predicate, gloss: content (subject)\n${glossTable}`)
  .digest('hex')
  .slice(0, 16);
