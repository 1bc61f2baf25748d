import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import type { MemoryType } from '../tables.ts';
import { whereMemory, type MemoryFilter } from '../sql/memory-filter.ts';
import { rowsToSearch } from '../sql/search-rows.ts';

/** How many memories have a word, one number for each type of the corpus. */
export interface WordCount {
  lexeme: string;
  /** Null when they were not counted. */
  documents: number[] | null;
}

/** A word in the samples of large types: the marks of the sampled rows that have it. */
export interface SampledWordCount extends WordCount {
  marks: (number[] | null)[];
}

export interface WordCountQuery {
  corpus: MemoryFilter;
  lexemes: readonly string[];
  /** Types of so few rows that words are counted in each of them. */
  small: ReadonlySet<MemoryType>;
}

export interface WordSampleQuery extends WordCountQuery {
  /** The types with too many rows to count, and how many rows each has. */
  large: ReadonlyMap<MemoryType, number>;
}

/** Rows of a type that are counted one by one. Of more, so many stand for all. */
export const mostCountedRows = 20_000;
/** Matches of a word that are counted at first. A word with more is sampled. */
export const mostCountedMatches = 1000;
/** An estimate of so many matches is as good as a count. */
const leastEstimatedMatches = 3000;
/** The newest rows, which show what share of all has a frequent word and which words occur together. */
export const sampleRows = 1000;

/** Counts the memories that have each word, up to `mostCountedMatches` of a type. One round trip for all queries. */
export function countWords(
  db: Pick<TenantDatabase, 'roundTrip'>,
  queries: readonly WordCountQuery[],
): Promise<WordCount[][]> {
  return readCounts(db, queries, (query) => {
    const counts = query.corpus.types.map((type) => countExactly(type, query, mostCountedMatches));
    return withRows(
      listCorpora(query),
      selectCounts(query.lexemes, Prisma.sql`'documents', json_build_array(${Prisma.join(counts)})`),
    );
  });
}

/** Counts frequent words. Where a type has too many rows to count, the share in its newest rows stands for that in all. */
export function sampleWords(
  db: Pick<TenantDatabase, 'roundTrip'>,
  queries: readonly WordSampleQuery[],
): Promise<SampledWordCount[][]> {
  return readCounts(db, queries, (query) => {
    const { corpus, lexemes, large } = query;
    const types = [...large.keys()];
    const counts = corpus.types.map((type) => {
      const size = large.get(type);
      return size === undefined ? countExactly(type, query, mostCountedRows) : estimateMatches(type, corpus, size);
    });
    const marks = types.map(
      (type) => Prisma.sql`(SELECT json_agg(mark) FROM sample_${Prisma.raw(type)} WHERE search_vector @@ wanted)`,
    );
    const figures = Prisma.sql`'documents', json_build_array(${Prisma.join(counts)}),
      'marks', json_build_array(${marks.length === 0 ? Prisma.empty : Prisma.join(marks)})`;
    const samples = types.map((type) => withSample(type, corpus));
    return withRows([...samples, ...listCorpora(query)], selectCounts(lexemes, figures));
  });
}

async function readCounts<Query extends WordCountQuery, Count>(
  db: Pick<TenantDatabase, 'roundTrip'>,
  queries: readonly Query[],
  select: (query: Query) => Prisma.Sql,
): Promise<Count[][]> {
  const asked = queries.filter(({ lexemes }) => lexemes.length > 0);
  const answers = asked.length === 0 ? [] : await db.roundTrip(asked.map(select));
  return queries.map((query) => JSON.parse(answers[asked.indexOf(query)] ?? '[]') as Count[]);
}

function countExactly(type: MemoryType, { corpus, small }: WordCountQuery, most: number): Prisma.Sql {
  return small.has(type) ? countInCorpus(type) : countByIndex(type, corpus, most);
}

function listCorpora({ corpus, small }: WordCountQuery): Prisma.Sql[] {
  return corpus.types.filter((type) => small.has(type)).map((type) => withCorpus(type, corpus));
}

function withRows(rows: readonly Prisma.Sql[], statement: Prisma.Sql): Prisma.Sql {
  return rows.length === 0 ? statement : Prisma.sql`WITH ${Prisma.join([...rows])} ${statement}`;
}

function selectCounts(lexemes: readonly string[], figures: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT json_agg(json_build_object('lexeme', lexeme, ${figures}))::text
    FROM (SELECT lexeme, ${lexemeQuery('lexeme')} AS wanted FROM unnest(${[...lexemes]}::text[]) lexeme) words`;
}

function estimateMatches(type: MemoryType, corpus: MemoryFilter, size: number): Prisma.Sql {
  const share = Prisma.sql`(
    SELECT count(*) FILTER (WHERE search_vector @@ wanted)::float8 / greatest(count(*), 1) FROM sample_${Prisma.raw(type)})`;
  return Prisma.sql`(
    SELECT CASE WHEN estimate >= ${leastEstimatedMatches} THEN round(estimate)::bigint
      ELSE ${countByIndex(type, corpus, leastEstimatedMatches)} END
    FROM (SELECT ${share} * ${size}::float8 AS estimate OFFSET 0) sampled)`;
}

/** The mark of a row is the random end of its id, which is the same in every sample that it is in. */
function withSample(type: MemoryType, corpus: MemoryFilter): Prisma.Sql {
  return Prisma.sql`sample_${Prisma.raw(type)} AS MATERIALIZED (
    SELECT m.search_vector, ('x' || right(m.id::text, 4))::bit(16)::int AS mark
    FROM ${rowsToSearch(type, corpus)} m WHERE ${whereMemory(type, corpus) ?? Prisma.sql`false`}
    ORDER BY m.created_at DESC, m.id DESC LIMIT ${sampleRows})`;
}

/** For a WITH: the lexemes of the rows of a type, or of as many of them as are counted. */
export function withCorpus(type: MemoryType, corpus: MemoryFilter): Prisma.Sql {
  return Prisma.sql`corpus_${Prisma.raw(type)} AS MATERIALIZED (
    SELECT m.search_vector FROM ${rowsToSearch(type, corpus)} m WHERE ${whereMemory(type, corpus) ?? Prisma.sql`false`}
    ${corpus.isPast ? Prisma.empty : Prisma.sql`LIMIT ${mostCountedRows}`})`;
}

/** Counts the rows of `withCorpus` that have the word `wanted`. */
export function countInCorpus(type: MemoryType): Prisma.Sql {
  return Prisma.sql`(SELECT count(*) FROM corpus_${Prisma.raw(type)} WHERE search_vector @@ wanted)`;
}

/** The index of words holds those of all tenants: it reads every row that has a word before it leaves one out. */
export function countByIndex(type: MemoryType, corpus: MemoryFilter, most: number): Prisma.Sql {
  const scopes = corpus.visibleScopes === null ? null : [...corpus.visibleScopes];
  return Prisma.sql`memory_match_count(
    ${type}, wanted, ${corpus.visibleButler}::text, ${scopes}::text[], ${corpus.at}::timestamptz, ${most}::int)`;
}

/** Makes a tsquery of one lexeme as it is, not parsed and stemmed a second time. */
export function lexemeQuery(column: string): Prisma.Sql {
  return Prisma.raw(`('''' || replace(replace(${column}, '\\', '\\\\'), '''', '''''') || '''')::tsquery`);
}
