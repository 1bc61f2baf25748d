import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import type { RowToEmbed } from './reembed.ts';
import { whereMemory, type MemoryFilter } from '../sql/memory-filter.ts';
import { pastRows, rowsToSearch } from '../sql/search-rows.ts';
import {
  countByIndex,
  countInCorpus,
  lexemeQuery,
  mostCountedMatches,
  mostCountedRows,
  withCorpus,
  type WordCount,
} from './search-word-counts.ts';

export interface PlanQuery {
  filter: MemoryFilter;
  /** The same without what narrows it: document frequencies are those of all that the caller may find. */
  corpus: MemoryFilter;
  /** A name that memory_text_search knows. */
  language: string;
  /** What the words of the query are taken from. */
  words: string;
  phrases: readonly string[];
  exclusions: readonly string[];
  mostLexemes: number;
  /** Count the memories of each lexeme and of each type; false when the answers are known. */
  count: boolean;
  /** Count the rows that the whole filter lets through, up to one more than are looked at one by one. */
  countFiltered: boolean;
  /** Rows of a type that are always looked at one by one; 0 for none. */
  exactScanRows: number;
  /** Candidates that are wanted of each type. */
  most: number;
  /** How many texts of the past that have no vector are listed; null to leave them. */
  mostPastTexts: number | null;
}

/** What one search has to know before it asks for candidates, in one row and one round trip. */
export interface SearchPlanRow {
  version: StoredVersion | null;
  vector_extension: string;
  lexemes: WordCount[];
  phrases: string[];
  exclusions: string[];
  statistics: Partial<Record<MemoryType, CountedType>> | null;
  /** Up to how many rows of a type each one is looked at. */
  exact_rows: Record<MemoryType, number>;
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

/** Of the rows that were looked at, which are not all of them where `estimate` says how many there are. */
export interface CountedType {
  documents: number;
  /** Distinct lexemes of all its documents together. */
  lexemes: number;
  estimate: number | null;
}

/**
 * The index of vectors holds those of all tenants. To find the nearest of one tenant it passes, for each that is wanted, as
 * many rows as there are for one of the tenant: wanted × rows of the table / rows of the tenant. To look at each row of the
 * tenant is less work up to the square root of wanted × rows of the table, and a little beyond: reading the rows of one
 * tenant is cheaper than walking through the graph.
 */
const exactScanFactor = 1.5;

/**
 * Reads what each search has to know before it asks for candidates. The statements of `also` go with the same round trip,
 * and their answers come back.
 */
export async function readSearchPlans(
  db: Pick<TenantDatabase, 'roundTrip'>,
  queries: readonly PlanQuery[],
  also: readonly Prisma.Sql[],
): Promise<{ plans: SearchPlanRow[]; answers: (string | null)[] }> {
  // Rows are found by the same keys for every caller: planning a statement anew takes longer than running it.
  const settings = { plan_cache_mode: 'force_generic_plan' };
  const answers = await db.roundTrip([...queries.map(selectSearchPlan), ...also], settings);
  const plans = answers.slice(0, queries.length).map((answer) => {
    if (answer === null) throw new TypeError('a SELECT without FROM returned no row');
    return JSON.parse(answer) as SearchPlanRow;
  });
  return { plans, answers: answers.slice(queries.length) };
}

function selectSearchPlan(query: PlanQuery): Prisma.Sql {
  const configuration = Prisma.sql`memory_text_search(${query.language})`;
  const { corpus, count } = query;
  const counted = count ? corpus.types.map((type) => withCorpus(type, corpus)) : [];
  return Prisma.sql`
    WITH ${Prisma.join([exactRows(query), ...pastRows(query.filter), ...counted])}
    SELECT json_build_object(
      'exact_rows', (SELECT to_json(exact_rows) FROM exact_rows),
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
      'statistics', ${query.count ? selectStatistics(query.corpus) : Prisma.sql`NULL`},
      'filtered', ${query.countFiltered ? countRows(query.filter) : Prisma.sql`NULL`},
      'past_texts', ${query.mostPastTexts === null ? Prisma.sql`NULL` : selectPastTexts(query, configuration, query.mostPastTexts)}
    )::text AS plan`;
}

/** What the planner knows of the size of a table is all that a tenant may know of its neighbours. */
function exactRows({ exactScanRows, most }: PlanQuery): Prisma.Sql {
  const bounds = Object.entries(memoryTables).map(([type, table]) => {
    if (exactScanRows === 0) return Prisma.sql`0 AS ${Prisma.raw(type)}`;
    const rows = Prisma.raw(`(SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = '${table}'::regclass)`);
    return Prisma.sql`
      greatest(${exactScanRows}, sqrt(${exactScanFactor * most}::float8 * ${rows}))::int AS ${Prisma.raw(type)}`;
  });
  return Prisma.sql`exact_rows AS MATERIALIZED (SELECT ${Prisma.join(bounds)})`;
}

function selectExactRows(type: MemoryType): Prisma.Sql {
  return Prisma.raw(`(SELECT ${type} FROM exact_rows)`);
}

function isSmall(type: MemoryType): Prisma.Sql {
  return Prisma.sql`(SELECT count(*) FROM corpus_${Prisma.raw(type)}) <= least(${selectExactRows(type)}, ${mostCountedRows - 1})`;
}

/** Those with words of the query first, then the newest. */
function selectPastTexts({ filter, words }: PlanQuery, configuration: Prisma.Sql, most: number): Prisma.Sql {
  const texts = filter.types.flatMap((type) => {
    const conditions = whereMemory(type, filter);
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

function countDocuments({ count, corpus }: PlanQuery): Prisma.Sql {
  if (!count) return Prisma.sql`NULL`;
  const counts = corpus.types.map((type) => {
    // Of the past, there is nothing else to count in: the functions count in the tables, which hold the memories as they are.
    if (corpus.isPast) return countInCorpus(type);
    const byIndex = countByIndex(type, corpus, mostCountedMatches);
    return Prisma.sql`CASE WHEN ${isSmall(type)} THEN ${countInCorpus(type)} ELSE ${byIndex} END`;
  });
  return Prisma.sql`json_build_array(${Prisma.join(counts)})`;
}

/** Phrases of stop words alone come out empty and are left out. */
function asPhrases(configuration: Prisma.Sql, texts: readonly string[]): Prisma.Sql {
  return Prisma.sql`coalesce((
    SELECT json_agg(phrase::text)
    FROM (SELECT phraseto_tsquery(${configuration}, given) AS phrase FROM unnest(${[...texts]}::text[]) given) phrases
    WHERE numnode(phrase) > 0), '[]')`;
}

function selectStatistics(filter: MemoryFilter): Prisma.Sql {
  return objectByType(filter, (type) => {
    const estimate = filter.isPast
      ? Prisma.sql`NULL`
      : Prisma.sql`CASE WHEN count(*) >= ${mostCountedRows} THEN memory_rows_estimate(${type}) END`;
    return Prisma.sql`(
      SELECT json_build_object('documents', count(*), 'lexemes', coalesce(sum(length(search_vector)), 0),
        'estimate', ${estimate})
      FROM corpus_${Prisma.raw(type)})`;
  });
}

function countRows(filter: MemoryFilter): Prisma.Sql {
  return objectByType(filter, (type, conditions) => {
    const table = rowsToSearch(type, filter);
    return Prisma.sql`(
      SELECT count(*) FROM (SELECT FROM ${table} m WHERE ${conditions} LIMIT ${selectExactRows(type)} + 1) found)`;
  });
}

function objectByType(
  filter: MemoryFilter,
  value: (type: MemoryType, conditions: Prisma.Sql) => Prisma.Sql,
): Prisma.Sql {
  const entries = filter.types.flatMap((type) => {
    const conditions = whereMemory(type, filter);
    return conditions === null ? [] : [Prisma.sql`${type}::text, ${value(type, conditions)}`];
  });
  return Prisma.sql`json_build_object(${entries.length === 0 ? Prisma.empty : Prisma.join(entries)})`;
}
