import type { CorpusStatistics } from '../../memory/caches.ts';
import { countDocuments, isLarge } from './corpus-statistics.ts';

/** A word of the query, and how many memories have it. */
export interface Word {
  lexeme: string;
  documents: number;
}

/** Words that are combined. A prompt of pages has more pairs than an index should be asked for. */
const mostWords = 6;
/** The same in a large corpus, where the index reads very many memories for each frequent word. */
const mostWordsOfMany = 5;
/** Words in one combination. */
const mostTogether = 4;
/** Memories that all combinations together may find, by estimate: the index reads each of them. */
const mostMatches = 1000;

interface Combination {
  words: readonly Word[];
  /** How many memories have all of these words, by estimate. */
  matches: number;
}

/**
 * Returns the combinations of frequent words that few memories have: pairs first, and three or four words where too many
 * have the pairs.
 */
export function findCombinations(frequent: readonly Word[], statistics: CorpusStatistics): (readonly Word[])[] {
  const words = frequent.slice(0, isLarge(statistics) ? mostWordsOfMany : mostWords);
  let chosen: Combination[] = [];
  for (let size = 2; size <= mostTogether; size++) {
    const { fitting, isComplete } = takeWhileFew(chosen, listCombinations(words, size, statistics));
    chosen = fitting;
    // Without a sample, nothing says how many memories have three words.
    if (isComplete || statistics.sampled.size === 0) break;
  }
  return chosen.map((one) => one.words);
}

/** Adds combinations, those with the fewest matches first, until there would be too many matches. */
function takeWhileFew(
  chosen: readonly Combination[],
  more: readonly Combination[],
): { fitting: Combination[]; isComplete: boolean } {
  const fitting = [...chosen];
  let matches = chosen.reduce((sum, one) => sum + one.matches, 0);
  for (const one of more.toSorted(byMatches)) {
    if (chosen.some((other) => includesAll(one, other))) continue;
    matches += one.matches;
    if (matches > mostMatches) return { fitting, isComplete: false };
    fitting.push(one);
  }
  return { fitting, isComplete: true };
}

function listCombinations(words: readonly Word[], size: number, statistics: CorpusStatistics): Combination[] {
  const extend = (together: readonly Word[], first: number): Word[][] =>
    together.length === size
      ? [[...together]]
      : words.slice(first).flatMap((word, place) => extend([...together, word], first + place + 1));
  return extend([], 0).map((together) => ({ words: together, matches: estimateMatches(together, statistics) }));
}

/** Estimates by the sample. Without one, or if no sampled row has all words, as if words occurred independently. */
function estimateMatches(words: readonly Word[], statistics: CorpusStatistics): number {
  const all = Math.max(1, countDocuments(statistics));
  const byChance = words.reduce((matches, { documents }) => (matches * documents) / all, all);
  const [first = [], ...others] = words.map(({ lexeme }) => statistics.sampled.get(lexeme) ?? []);
  let [sampled, least] = [0, Infinity];
  for (const { type, marks, weight } of first) {
    const lists = others.map((other) => other.find((one) => one.type === type)?.marks ?? noMarks);
    sampled += lists.reduce(intersect, marks).length * weight;
    least = Math.min(least, weight);
  }
  return sampled > 0 ? sampled : Math.min(byChance, least);
}

const noMarks = new Uint16Array();

/** Both lists are in ascending order. */
function intersect(first: Uint16Array, second: Uint16Array): Uint16Array {
  let place = 0;
  return first.filter((mark) => {
    while (place < second.length && (second[place] as number) < mark) place++;
    return second[place] === mark;
  });
}

function includesAll({ words }: Combination, other: Combination): boolean {
  return other.words.every((word) => words.includes(word));
}

function byMatches(a: Combination, b: Combination): number {
  return a.matches - b.matches || (joinWords(a) < joinWords(b) ? -1 : 1);
}

function joinWords({ words }: Combination): string {
  return words.map(({ lexeme }) => lexeme).join(' ');
}
