import type { Config } from '../../config/schema.ts';
import type { KeywordQuery } from '../../db/sql/search-candidates.ts';
import { averageLength, countDocuments, isLarge, type CorpusStatistics } from './corpus-statistics.ts';

/** Words beyond these add little to a score: they are the ones that most memories have. */
const mostWords = 32;
/**
 * Memories that are looked at, for each one that is wanted, because they have one of the rarer words, and because they have
 * some of the others together; and the newest with the next word, when the rarer ones find less than wanted. Of real
 * conversations a few hundred find as much as all. Among so many memories that they are not counted, to read a row is dear.
 */
const matchesPerWanted = { rare: 5, together: 5, common: 3 };
const commonPerWantedOfMany = 2;
/** Memories that an index is to find by words that they have together, as far as is known: it reads each of them. */
const mostFoundTogether = 1000;
/**
 * Words that are asked for together are few: a prompt of pages has more pairs than an index should be asked for, and of a
 * frequent word it reads all that have it.
 */
const mostWordsToCombine = 6;
const mostWordsToCombineOfMany = 5;
/** Words that are asked for together. */
const mostCombined = 4;
/** A word that more memories have is common even if it is the rarest of the query. */
const mostMatchesOfRarest = 5000;

interface Word {
  lexeme: string;
  documents: number;
}

/** Which words of the query find candidates, and what each adds to a score. Null when no memory has any of them. */
export function chooseWords(
  lexemes: readonly string[],
  statistics: CorpusStatistics,
  retrieval: Config['memory']['retrieval'],
  most: number,
): KeywordQuery | null {
  const words = lexemes
    .map((lexeme): Word => ({ lexeme, documents: statistics.documentsWith.get(lexeme) ?? 0 }))
    .filter(({ documents }) => documents > 0)
    .toSorted((a, b) => a.documents - b.documents || (a.lexeme < b.lexeme ? -1 : 1))
    .slice(0, mostWords);
  if (words.length === 0) return null;
  const limits = limitsFor(most, statistics);
  const rareCount = countRare(words, limits.rare);
  const rareMatches = words.slice(0, rareCount).reduce((sum, { documents }) => sum + documents, 0);
  const rare = words.slice(0, rareCount).map(quote);
  const frequent = words.slice(rareCount, rareCount + limits.wordsToCombine);
  const together = combinationsOf(frequent, statistics);
  const next = rareMatches < most ? words[rareCount] : undefined;
  return {
    any: words.map(quote).join(' | '),
    rare: anyOf(rare),
    together: anyOf(together),
    mostTogether: limits.together,
    common: next === undefined ? null : quote(next),
    mostCommon: limits.common,
    isCommonFrequent: next !== undefined && isFrequent(next, statistics, limits.common),
    words: words.map((word) => ({ wanted: quote(word), inverseFrequency: inverseFrequency(word, statistics) })),
    k1: retrieval.bm25.k1,
    b: retrieval.bm25.b,
    averageLength: averageLength(statistics),
    neighbours: retrieval.neighbourWeights,
  };
}

interface Limits {
  rare: number;
  together: number;
  common: number;
  wordsToCombine: number;
}

function limitsFor(most: number, statistics: CorpusStatistics): Limits {
  const ofMany = isLarge(statistics);
  const { rare, together, common } = matchesPerWanted;
  return {
    rare: most * rare,
    together: most * together,
    common: most * (ofMany ? commonPerWantedOfMany : common),
    wordsToCombine: ofMany ? mostWordsToCombineOfMany : mostWordsToCombine,
  };
}

/**
 * Either all that have it are read, or all that are newer than the last one wanted, which lie closer together: whichever
 * is less.
 */
function isFrequent({ documents }: Word, statistics: CorpusStatistics, wanted: number): boolean {
  return (wanted * countDocuments(statistics)) / documents < 2 * documents;
}

/** The same without leaving any match out, for when that was too few. */
export function withEveryMatch(keyword: KeywordQuery): KeywordQuery {
  return { ...keyword, rare: keyword.any, together: null, common: null };
}

export function leavesMatchesOut(keyword: KeywordQuery): boolean {
  return keyword.rare !== keyword.any;
}

function countRare(words: readonly Word[], mostRare: number): number {
  let matches = 0;
  const end = words.findIndex(({ documents }) => (matches += documents) > mostRare);
  if (end !== 0) return end === -1 ? words.length : end;
  return (words[0]?.documents ?? 0) <= mostMatchesOfRarest ? 1 : 0;
}

/**
 * Two words that many memories have are together as telling as a rare one; where too many have both, three or four are.
 * As many of them as find few memories together, pairs first.
 */
function combinationsOf(words: readonly Word[], statistics: CorpusStatistics): string[] {
  const chosen: Combination[] = [];
  let matches = 0;
  for (let size = 2; size <= mostCombined; size++) {
    const found = combine(words, size, statistics).filter((one) => !chosen.some((other) => includes(one, other)));
    for (const one of found.toSorted(byMatches)) {
      matches += one.matches;
      if (matches > mostFoundTogether) break;
      chosen.push(one);
    }
    // Others have no sample to tell how many have three words.
    if (matches <= mostFoundTogether || statistics.sampled.size === 0) break;
    matches = chosen.reduce((sum, one) => sum + one.matches, 0);
  }
  return chosen.map(({ words: together }) => `(${together.map(quote).join(' & ')})`);
}

interface Combination {
  words: readonly Word[];
  /** How many memories have all of them, as far as is known. */
  matches: number;
}

function combine(words: readonly Word[], size: number, statistics: CorpusStatistics): Combination[] {
  const grow = (together: readonly Word[], first: number): Word[][] =>
    together.length === size
      ? [[...together]]
      : words.slice(first).flatMap((word, place) => grow([...together, word], first + place + 1));
  return grow([], 0).map((together) => ({ words: together, matches: estimateMatches(together, statistics) }));
}

/** By the sample, if there is one; else, or if no row of it has them all, as if the words did not know of each other. */
function estimateMatches(words: readonly Word[], statistics: CorpusStatistics): number {
  const all = Math.max(1, countDocuments(statistics));
  const byChance = words.reduce((matches, { documents }) => (matches * documents) / all, all);
  const [first = [], ...others] = words.map(({ lexeme }) => statistics.sampled.get(lexeme) ?? []);
  let [sampled, least] = [0, Infinity];
  for (const { type, marks, weight } of first) {
    const lists = others.map((other) => other.find((one) => one.type === type)?.marks ?? noMarks);
    sampled += lists.reduce(inBoth, marks).length * weight;
    least = Math.min(least, weight);
  }
  return sampled > 0 ? sampled : Math.min(byChance, least);
}

const noMarks = new Uint16Array();

/** Of two lists in order. */
function inBoth(first: Uint16Array, second: Uint16Array): Uint16Array {
  let place = 0;
  return first.filter((mark) => {
    while (place < second.length && (second[place] as number) < mark) place++;
    return second[place] === mark;
  });
}

function includes({ words }: Combination, other: Combination): boolean {
  return other.words.every((word) => words.includes(word));
}

function byMatches(a: Combination, b: Combination): number {
  return a.matches - b.matches || (textOf(a) < textOf(b) ? -1 : 1);
}

function textOf({ words }: Combination): string {
  return words.map(({ lexeme }) => lexeme).join(' ');
}

function inverseFrequency({ documents }: Word, statistics: CorpusStatistics): number {
  // Kept statistics may be older than the count of a word.
  const all = Math.max(countDocuments(statistics), documents);
  return Math.log(1 + (all - documents + 0.5) / (documents + 0.5));
}

function anyOf(queries: readonly string[]): string | null {
  return queries.length === 0 ? null : queries.join(' | ');
}

/** A tsquery of the lexeme as it is: nothing in it is an operator. */
function quote({ lexeme }: Word): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
