import type { KeywordQuery, WordLookup } from '../../db/sql/search-words.ts';
import { findCombinations, type Word } from './combine-words.ts';
import type { CorpusStatistics } from '../../memory/caches.ts';
import { averageLength, countDocuments, isLarge } from './corpus-statistics.ts';

/** Words that are scored. Those beyond are the most frequent ones and add little. */
const mostWords = 32;
/**
 * Memories that the word index looks up for each one that is wanted: by a rare word, by frequent words that occur
 * together, and by the next frequent word. On real conversations a few hundred find as much as all.
 */
const lookedUpPerWanted = { rare: 5, together: 5, common: 3 };
/** Instead of `common` in a large corpus, where reading a row is slow. */
const commonPerWantedOfMany = 2;
/** A word that more memories have is common, even if it is the rarest of the query. */
const mostMatchesOfRarest = 5000;

/**
 * Chooses which words of the query find candidates, and what each adds to a score. Null when no memory has any of them.
 * Rows that are read one by one need the scores alone. The word index would read every memory that has a frequent word:
 * it is asked for the rare words, for frequent ones that occur together, and for the newest memories with the next word
 * if the rare ones find too few.
 */
export function chooseWords(
  lexemes: readonly string[],
  statistics: CorpusStatistics,
  wanted: number,
): KeywordQuery | null {
  const words = lexemes
    .map((lexeme): Word => ({ lexeme, documents: statistics.documentsWith.get(lexeme) ?? 0 }))
    .filter(({ documents }) => documents > 0)
    .toSorted((a, b) => a.documents - b.documents || (a.lexeme < b.lexeme ? -1 : 1))
    .slice(0, mostWords);
  if (words.length === 0) return null;
  const rare = words.slice(0, countRare(words, wanted * lookedUpPerWanted.rare));
  return {
    words: words.map((word) => ({
      lexeme: word.lexeme,
      wanted: quote(word),
      inverseFrequency: inverseFrequency(word, statistics),
    })),
    any: anyOf(words.map(quote)),
    averageLength: averageLength(statistics),
    lookups: [
      ...(rare.length === 0 ? [] : [lookUpAll(anyOf(rare.map(quote)))]),
      ...lookUpTogether(words.slice(rare.length), statistics, wanted),
      ...lookUpNext(words[rare.length], rare, statistics, wanted),
    ],
    isPartial: rare.length < words.length,
  };
}

/** Words of a question's form, which are no stop words of PostgreSQL's. As stems. */
const formWords = new Set(
  'would could may might must shall us get got go let much mani someth anyth anyon someon anybodi somebodi'.split(' '),
);

/** Returns each word with its inverse document frequency, the words that no memory has included. */
export function weighWords(
  lexemes: readonly string[],
  statistics: CorpusStatistics,
): { lexeme: string; weight: number }[] {
  return lexemes
    .filter((lexeme) => /^[\p{L}\p{N}\p{M}]/u.test(lexeme) && !formWords.has(lexeme))
    .map((lexeme) => {
      const documents = statistics.documentsWith.get(lexeme) ?? 0;
      return { lexeme, weight: inverseFrequency({ lexeme, documents }, statistics) };
    });
}

/** Returns the same query without leaving any match out, for when that found too few. */
export function lookUpEveryMatch(keyword: KeywordQuery): KeywordQuery {
  return { ...keyword, lookups: [lookUpAll(keyword.any)], isPartial: false };
}

/** Counts the rarest words that together find no more memories than `most`: at least one, unless that is a common word. */
function countRare(words: readonly Word[], most: number): number {
  let matches = 0;
  const end = words.findIndex(({ documents }) => (matches += documents) > most);
  if (end !== 0) return end === -1 ? words.length : end;
  return (words[0]?.documents ?? 0) <= mostMatchesOfRarest ? 1 : 0;
}

function lookUpAll(wanted: string): WordLookup {
  return { wanted, most: null, fromNewest: false };
}

/** Two frequent words together are as telling as a rare one. */
function lookUpTogether(frequent: readonly Word[], statistics: CorpusStatistics, wanted: number): WordLookup[] {
  const combinations = findCombinations(frequent, statistics);
  if (combinations.length === 0) return [];
  const queries = combinations.map((words) => `(${words.map(quote).join(' & ')})`);
  return [{ wanted: anyOf(queries), most: wanted * lookedUpPerWanted.together, fromNewest: false }];
}

function lookUpNext(
  next: Word | undefined,
  rare: readonly Word[],
  statistics: CorpusStatistics,
  wanted: number,
): WordLookup[] {
  const found = rare.reduce((sum, { documents }) => sum + documents, 0);
  if (next === undefined || found >= wanted) return [];
  const most = wanted * (isLarge(statistics) ? commonPerWantedOfMany : lookedUpPerWanted.common);
  // Either every memory with the word is read, or every memory newer than the last one wanted: the latter lie closer
  // together, so that two of them are read in the time of one.
  const newerThanLast = (most * countDocuments(statistics)) / next.documents;
  return [{ wanted: quote(next), most, fromNewest: newerThanLast < 2 * next.documents }];
}

function inverseFrequency({ documents }: Word, statistics: CorpusStatistics): number {
  // Kept statistics may be older than the count of a word.
  const all = Math.max(countDocuments(statistics), documents);
  return Math.log(1 + (all - documents + 0.5) / (documents + 0.5));
}

function anyOf(queries: readonly string[]): string {
  return queries.join(' | ');
}

/** Makes a tsquery of the lexeme as it is: nothing in it is an operator. */
function quote({ lexeme }: Word): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
