import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from '../tables.ts';
import type { MemoryFilter } from './memory-filter.ts';

/** What the keyword channel looks for. */
export interface KeywordQuery {
  /** The words that are scored, rarest first. */
  words: readonly WordWeight[];
  /** Any of the words, as a tsquery. */
  any: string;
  /** Distinct lexemes of an average memory. */
  averageLength: number;
  /** How the word index finds memories, where rows are not read one by one. */
  lookups: readonly WordLookup[];
  /** Whether these lookups may miss a memory that has one of the words. */
  isPartial: boolean;
}

export interface WordWeight {
  lexeme: string;
  /** The lexeme as a tsquery. */
  wanted: string;
  inverseFrequency: number;
}

export interface WordLookup {
  /** A tsquery. */
  wanted: string;
  /** Only the newest so many; null for all. */
  most: number | null;
  /** Whether to walk from the newest memory backwards, which finds a frequent word sooner than the word index does. */
  fromNewest: boolean;
}

/** How much further occurrences of a word add. */
const k1 = 0.9;
/** How much the length of a memory counts against it. */
const b = 0.4;

/** Returns the BM25 score of each word in row `m`, as an array in the order of the words. */
export function scoreWords({ words, averageLength }: KeywordQuery): Prisma.Sql {
  const perLexeme = (k1 * b) / Math.max(averageLength, 1);
  const norm = Prisma.sql`(${k1 * (1 - b)}::float8 + ${perLexeme}::float8 * length(m.search_vector))`;
  const scores = padWords(words).map(({ wanted, inverseFrequency }) => {
    const saturation = Prisma.sql`(1 - 1 / (1 + ${countOccurrences(wanted)} / ${norm}))`;
    return Prisma.sql`${inverseFrequency * (k1 + 1)}::float8 * ${saturation}`;
  });
  return Prisma.sql`ARRAY[${Prisma.join(scores)}]`;
}

/**
 * Counts how often row `m` has a lexeme, by inverting `ts_rank`: PostgreSQL has no function for it, and unnesting the
 * document takes ten times as long. For n occurrences of one lexeme
 *   ts_rank = (1/1² + 1/2² + … + 1/n²) / (π²/6),
 * and the sum falls short of π²/6 by nearly 1 / (n + 1/2), hence n = round(1 / (π²/6 × (1 − ts_rank)) − 1/2). Exact for
 * every n that a document can have.
 */
function countOccurrences(wanted: string): Prisma.Sql {
  const rank = Prisma.sql`ts_rank('{1,1,1,1}', m.search_vector, ${wanted}::tsquery)::float8`;
  return Prisma.sql`round(1 / (1.64493406685 * (1 - ${rank})) - 0.5)`;
}

/** Sums the column `words`. Spelled out, because unnesting an array for each row takes longer than scoring it. */
export function sumWords({ words }: KeywordQuery): Prisma.Sql {
  const terms = padWords(words).map((_word, index) => `words[${index + 1}]`);
  return Prisma.raw(`(${terms.join(' + ')})`);
}

/** Returns the scores of a row that has none of the words. */
export function scoreNoWords({ words }: KeywordQuery): Prisma.Sql {
  return Prisma.sql`array_fill(0::float8, ARRAY[${padWords(words).length}::int])`;
}

/** Pads to a multiple of four with a word that no memory has: each connection plans a statement once per number of words. */
function padWords(words: readonly WordWeight[]): WordWeight[] {
  const missing = (4 - (words.length % 4)) % 4;
  return [...words, ...Array.from({ length: missing }, () => ({ lexeme: ' ', wanted: "' '", inverseFrequency: 0 }))];
}

/** Selects the ids that the word index finds, through functions that check who may see a memory. */
export function selectWordMatches(type: MemoryType, { lookups }: KeywordQuery, filter: MemoryFilter): Prisma.Sql {
  const scopes = filter.visibleScopes === null ? null : [...filter.visibleScopes];
  const selects = lookups.map(({ wanted, most, fromNewest }) => {
    const find = Prisma.raw(fromNewest ? 'memory_newest_matches' : 'memory_matches');
    return Prisma.sql`
      SELECT ${find}(${type}, ${wanted}::tsquery, ${filter.visibleButler}::text, ${scopes}::text[],
        ${filter.at}::timestamptz, ${most}::int)`;
  });
  return Prisma.join(selects, ' UNION ');
}
