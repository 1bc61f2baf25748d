import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from './memory-snapshot.ts';
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
}

/** What one search has to know before it asks for candidates, in one row and one round trip. */
export interface SearchPlanRow {
  version: StoredVersion | null;
  vector_extension: string;
  lexemes: { lexeme: string; documents: number | null }[];
  phrases: string[];
  exclusions: string[];
  statistics: Partial<Record<MemoryType, TypeStatistics>> | null;
  filtered: Partial<Record<MemoryType, number>> | null;
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

export interface TypeStatistics {
  documents: number;
  /** Distinct lexemes of all its documents together. */
  lexemes: number;
}

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
      'filtered', ${query.countFiltered === null ? Prisma.sql`NULL` : countRows(query.filter, query.countFiltered)}
    )::text AS plan`;
}

/** For the lexemes that the statistics kept from earlier searches do not cover. */
export function selectDocumentCounts(filter: RowFilter, lexemes: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT lexeme, ${sumOverTypes(filter)} AS documents
    FROM (SELECT lexeme, ${lexemeQuery('lexeme')} AS wanted FROM unnest(${[...lexemes]}::text[]) lexeme) words`;
}

/** A tsquery of one lexeme as it is, not parsed and stemmed a second time. */
function lexemeQuery(column: string): Prisma.Sql {
  return Prisma.raw(`('''' || replace(replace(${column}, '\\', '\\\\'), '''', '''''') || '''')::tsquery`);
}

function countDocuments({ count, corpus }: PlanQuery): Prisma.Sql {
  return count ? sumOverTypes(corpus) : Prisma.sql`NULL`;
}

function sumOverTypes(filter: RowFilter): Prisma.Sql {
  const { types, visibleButler, visibleScopes, at } = filter;
  if (filter.isPast) return sumOverPast(filter);
  const scopes = visibleScopes === null ? null : [...visibleScopes];
  const counts = types.map(
    (type) =>
      Prisma.sql`memory_match_count(${type}, wanted, ${visibleButler}::text, ${scopes}::text[], ${at}::timestamptz)`,
  );
  return Prisma.sql`(${Prisma.join(counts, ' + ')})::int`;
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
    return Prisma.sql`(
      SELECT json_build_object('documents', count(*), 'lexemes', coalesce(sum(length(m.search_vector)), 0))
      FROM ${table} m WHERE ${conditions})`;
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
