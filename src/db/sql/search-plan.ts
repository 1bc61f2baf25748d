import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from './memory-snapshot.ts';
import type { RowToEmbed } from './reembed-rows.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';
import { pastRows, rowsToSearch } from './search-rows.ts';

export interface PlanQuery {
  filter: RowFilter;
  /** The same without what narrows it: document frequencies are those of all that the caller may find. */
  corpus: RowFilter;
  /** A name that memory_text_search knows. */
  language: string;
  /** What the words of the query are taken from. */
  words: string;
  phrases: readonly string[];
  exclusions: readonly string[];
  mostLexemes: number;
  /** Count the memories of each lexeme and of each type; false when the answers are known. */
  count: boolean;
  /** Count, up to this many and one more, the rows that the whole filter lets through; null to leave it. */
  countFiltered: number | null;
  /** How many texts of the past that have no vector are listed; null to leave them. */
  mostPastTexts: number | null;
}

/** What one search has to know before it asks for candidates, in one row and one round trip. */
export interface SearchPlanRow {
  version: StoredVersion | null;
  vector_extension: string;
  lexemes: LexemeCounts[];
  phrases: string[];
  exclusions: string[];
  statistics: Partial<Record<MemoryType, CountedType>> | null;
  filtered: Partial<Record<MemoryType, number>> | null;
  past_texts: PastText[] | null;
}

/** A memory as it read in the past, of whose text no vector is stored. */
export interface PastText extends RowToEmbed {
  type: MemoryType;
}

export interface StoredVersion {
  id: string;
  slot: 'primary' | 'alternate';
  provider: string;
  model: string;
  dtype: string;
  digest: string;
  dimensions: number;
}

/** Of a word, for each type that is searched; of the past, for all of them together. Null when they were not counted. */
export interface LexemeCounts {
  lexeme: string;
  documents: number[] | null;
  /** Of each type whose rows are too many to count: the marks of the rows of its sample that have the word. */
  sampled?: (number[] | null)[];
}

/** Of the rows that were looked at, which are not all of them where `estimate` says how many there are. */
export interface CountedType {
  documents: number;
  /** Distinct lexemes of all its documents together. */
  lexemes: number;
  estimate: number | null;
}

/** Rows of a type that are counted one by one. Of more, the average length is that of so many. */
const mostCountedRows = 20_000;
/** Matches of a word that are counted at first: above, `selectFrequentCounts` tells how many there are. */
export const mostCountedMatches = 1000;
/** An estimate of so many matches is as good as a count. */
const leastEstimatedMatches = 3000;
/** The newest rows, that tell which share of all has a frequent word, and which words are met together. */
export const sampleRows = 1000;

export function selectSearchPlan(query: PlanQuery): Prisma.Sql {
  const configuration = Prisma.sql`memory_text_search(${query.language})`;
  const past = pastRows(query.filter);
  return Prisma.sql`
    ${past.length === 0 ? Prisma.empty : Prisma.sql`WITH ${Prisma.join(past)}`}
    SELECT json_build_object(
      'version', (SELECT to_json(v) FROM embedding_versions v WHERE tenant_id = ${query.filter.tenantId} AND status = 'active'),
      'vector_extension', (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
      'lexemes', coalesce((
        SELECT json_agg(json_build_object('lexeme', lexeme, 'documents', ${countDocuments(query)}) ORDER BY position)
        FROM (
          SELECT lexeme, positions[1] AS position, ${lexemeQuery('lexeme')} AS wanted
          FROM unnest(to_tsvector(${configuration}, ${query.words}))
          ORDER BY positions[1], lexeme LIMIT ${query.mostLexemes}
        ) words), '[]'),
      'phrases', ${asPhrases(configuration, query.phrases)},
      'exclusions', ${asPhrases(configuration, query.exclusions)},
      'statistics', ${query.count ? statisticsOf(query.corpus) : Prisma.sql`NULL`},
      'filtered', ${query.countFiltered === null ? Prisma.sql`NULL` : countRows(query.filter, query.countFiltered)},
      'past_texts', ${query.mostPastTexts === null ? Prisma.sql`NULL` : pastTextsOf(query, configuration, query.mostPastTexts)}
    )::text AS plan`;
}

/** Those with words of the query first, then the newest. */
function pastTextsOf({ filter, words }: PlanQuery, configuration: Prisma.Sql, most: number): Prisma.Sql {
  const texts = filter.types.flatMap((type) => {
    const conditions = rowConditions(type, filter);
    const fact = Prisma.raw(type === 'fact' ? 'm.subject, m.predicate' : 'NULL AS subject, NULL AS predicate');
    if (conditions === null) return [];
    return [
      Prisma.sql`
        SELECT ${type}::text AS type, m.id, m.content, ${fact}, m.created_at, m.search_vector
        FROM ${rowsToSearch(type, filter)} m
        JOIN embedding_versions v ON v.tenant_id = ${filter.tenantId} AND v.status = 'active'
        WHERE ${conditions} AND v.id IS DISTINCT FROM
          CASE v.slot WHEN 'primary' THEN m.embedding_version_id ELSE m.alternate_embedding_version_id END`,
    ];
  });
  if (texts.length === 0) return Prisma.sql`NULL`;
  const wanted = Prisma.sql`(
    SELECT string_agg(${lexemeQuery('lexeme')}::text, ' | ')::tsquery FROM unnest(to_tsvector(${configuration}, ${words})))`;
  return Prisma.sql`(
    SELECT json_agg(json_build_object('type', type, 'id', id, 'content', content, 'subject', subject, 'predicate', predicate))
    FROM (
      SELECT * FROM (${Prisma.join(texts, ' UNION ALL ')}) texts
      ORDER BY coalesce(ts_rank(search_vector, ${wanted}), 0) DESC, created_at DESC, id LIMIT ${most}
    ) listed)`;
}

/** For the lexemes that the statistics kept from earlier searches do not cover: a JSON array. */
export function selectDocumentCounts(filter: RowFilter, lexemes: readonly string[]): Prisma.Sql {
  return countsOf(lexemes, countByType(filter));
}

/**
 * The same where many memories have the word, or where there are many. `sizes` are the types whose rows are too many to count: there, the share
 * of the newest rows that have the word stands for the share of all.
 */
export function selectFrequentCounts(
  filter: RowFilter,
  lexemes: readonly string[],
  sizes: ReadonlyMap<MemoryType, number>,
): Prisma.Sql {
  const samples = [...sizes.keys()].map((type) => sampleOf(type, filter));
  const counts = filter.types.map((type) => {
    const size = sizes.get(type);
    if (size === undefined) return countMatches(type, filter, mostCountedRows);
    return estimateMatches(type, filter, size);
  });
  const all = countsOf(lexemes, Prisma.sql`json_build_array(${Prisma.join(counts)})`, [...sizes.keys()].map(marksOf));
  return samples.length === 0 ? all : Prisma.sql`WITH ${Prisma.join(samples)} ${all}`;
}

function marksOf(type: MemoryType): Prisma.Sql {
  return Prisma.sql`(SELECT json_agg(mark) FROM sample_${Prisma.raw(type)} WHERE search_vector @@ wanted)`;
}

function estimateMatches(type: MemoryType, filter: RowFilter, size: number): Prisma.Sql {
  const share = Prisma.sql`(
    SELECT count(*) FILTER (WHERE search_vector @@ wanted)::float8 / greatest(count(*), 1) FROM sample_${Prisma.raw(type)})`;
  return Prisma.sql`(
    SELECT CASE WHEN estimate >= ${leastEstimatedMatches} THEN round(estimate)::bigint
      ELSE ${countMatches(type, filter, leastEstimatedMatches)} END
    FROM (SELECT ${share} * ${size}::float8 AS estimate OFFSET 0) sampled)`;
}

function countsOf(lexemes: readonly string[], counts: Prisma.Sql, marks: readonly Prisma.Sql[] = []): Prisma.Sql {
  const sampled = Prisma.join([
    Prisma.sql`'sampled'`,
    Prisma.sql`json_build_array(${marks.length === 0 ? Prisma.empty : Prisma.join([...marks])})`,
  ]);
  return Prisma.sql`
    SELECT json_agg(json_build_object('lexeme', lexeme, 'documents', ${counts}, ${sampled}))::text
    FROM (SELECT lexeme, ${lexemeQuery('lexeme')} AS wanted FROM unnest(${[...lexemes]}::text[]) lexeme) words`;
}

/** A row is told by the random part of its id, which is the same in every sample that it is in. */
function sampleOf(type: MemoryType, filter: RowFilter): Prisma.Sql {
  return Prisma.sql`sample_${Prisma.raw(type)} AS MATERIALIZED (
    SELECT m.search_vector, ('x' || right(m.id::text, 4))::bit(16)::int AS mark FROM ${rowsToSearch(type, filter)} m WHERE ${rowConditions(type, filter) ?? Prisma.sql`false`}
    ORDER BY m.created_at DESC, m.id DESC LIMIT ${sampleRows})`;
}

/** A tsquery of one lexeme as it is, not parsed and stemmed a second time. */
function lexemeQuery(column: string): Prisma.Sql {
  return Prisma.raw(`('''' || replace(replace(${column}, '\\', '\\\\'), '''', '''''') || '''')::tsquery`);
}

function countDocuments({ count, corpus }: PlanQuery): Prisma.Sql {
  return count ? countByType(corpus) : Prisma.sql`NULL`;
}

function countByType(filter: RowFilter): Prisma.Sql {
  if (filter.isPast) return Prisma.sql`json_build_array(${sumOverPast(filter)})`;
  const counts = filter.types.map((type) => countMatches(type, filter, mostCountedMatches));
  return Prisma.sql`json_build_array(${Prisma.join(counts)})`;
}

function countMatches(type: MemoryType, { visibleButler, visibleScopes, at }: RowFilter, most: number): Prisma.Sql {
  const scopes = visibleScopes === null ? null : [...visibleScopes];
  return Prisma.sql`
    memory_match_count(${type}, wanted, ${visibleButler}::text, ${scopes}::text[], ${at}::timestamptz, ${most}::int)`;
}

/** The functions count in the tables, which hold the memories as they are. */
function sumOverPast(filter: RowFilter): Prisma.Sql {
  const counts = filter.types.flatMap((type) => {
    const conditions = rowConditions(type, filter);
    const rows = rowsToSearch(type, filter);
    if (conditions === null) return [];
    return [Prisma.sql`(SELECT count(*) FROM ${rows} m WHERE ${conditions} AND m.search_vector @@ wanted)`];
  });
  return Prisma.sql`(${Prisma.join([Prisma.sql`0`, ...counts], ' + ')})::int`;
}

/** Phrases of stop words alone come out empty and are left out. */
function asPhrases(configuration: Prisma.Sql, texts: readonly string[]): Prisma.Sql {
  return Prisma.sql`coalesce((
    SELECT json_agg(phrase::text)
    FROM (SELECT phraseto_tsquery(${configuration}, given) AS phrase FROM unnest(${[...texts]}::text[]) given) phrases
    WHERE numnode(phrase) > 0), '[]')`;
}

function statisticsOf(filter: RowFilter): Prisma.Sql {
  return objectByType(filter, (type, conditions) => {
    const table = rowsToSearch(type, filter);
    const most = filter.isPast ? Prisma.empty : Prisma.sql`LIMIT ${mostCountedRows}`;
    const estimate = filter.isPast
      ? Prisma.sql`NULL`
      : Prisma.sql`CASE WHEN count(*) >= ${mostCountedRows} THEN memory_rows_estimate(${type}) END`;
    return Prisma.sql`(
      SELECT json_build_object('documents', count(*), 'lexemes', coalesce(sum(length(counted.search_vector)), 0),
        'estimate', ${estimate})
      FROM (SELECT m.search_vector FROM ${table} m WHERE ${conditions} ${most}) counted)`;
  });
}

function countRows(filter: RowFilter, most: number): Prisma.Sql {
  return objectByType(filter, (type, conditions) => {
    const table = rowsToSearch(type, filter);
    return Prisma.sql`(SELECT count(*) FROM (SELECT FROM ${table} m WHERE ${conditions} LIMIT ${most + 1}) found)`;
  });
}

function objectByType(filter: RowFilter, value: (type: MemoryType, conditions: Prisma.Sql) => Prisma.Sql): Prisma.Sql {
  const entries = filter.types.flatMap((type) => {
    const conditions = rowConditions(type, filter);
    return conditions === null ? [] : [Prisma.sql`${type}::text, ${value(type, conditions)}`];
  });
  return Prisma.sql`json_build_object(${entries.length === 0 ? Prisma.empty : Prisma.join(entries)})`;
}
