import { Prisma } from '../../generated/prisma/client.ts';
import { columnsToShow } from './memories-to-show.ts';
import type { MemoryType } from '../tables.ts';
import { rowsToSearch } from './search-rows.ts';
import type { CandidateQuery, SemanticQuery } from '../queries/candidate.ts';
import { scoreNoWords, scoreWords, selectWordMatches, sumWords } from './search-words.ts';

/** How the rows of one type are found, and measured as row `m`. */
export interface CandidateSource {
  /** For the WITH, followed by a comma; empty where tables are read directly. */
  rows: Prisma.Sql;
  /** Selects id, session_id, created_at, words and score of the best by their own words. */
  matched: Prisma.Sql;
  /** Selects the ids of the nearest. */
  nearest: Prisma.Sql;
  /** Joins row `m` to each row of a result, by its id. */
  join: (name: 'found' | 'matched') => Prisma.Sql;
  similarity: Prisma.Sql;
  /** To the whole question, where that is another text; else null. */
  wholeSimilarity: Prisma.Sql;
  words: Prisma.Sql;
}

/** Reads each row of a type that has few: once, for everything that is asked of it. */
export function readEachRow(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): CandidateSource {
  const { keyword, semantic, most, filter, timeWords } = query;
  const readsWords = timeWords !== null || query.about !== null;
  const columns = [...columnsToShow(type), ...rankedColumns[type], ...(readsWords ? ['search_vector'] : [])];
  const words =
    keyword === null
      ? Prisma.sql`NULL::float8[]`
      : Prisma.sql`CASE WHEN m.search_vector @@ ${keyword.any}::tsquery THEN ${scoreWords(keyword)} END`;
  return {
    rows: Prisma.sql`measured AS MATERIALIZED (
      SELECT ${Prisma.raw(columns.map((name) => `m.${name}`).join(', '))}, ${distance(semantic)} AS distance,
        ${wholeDistance(semantic)} AS whole_distance, ${words} AS words
      FROM ${rowsToSearch(type, filter)} m WHERE ${conditions}),`,
    matched:
      keyword === null
        ? selectNoMatch
        : Prisma.sql`
          SELECT id, ${sessionId(type)}, created_at, words, ${sumWords(keyword)} AS score
          FROM measured m WHERE words IS NOT NULL
          ORDER BY score DESC, created_at DESC, id LIMIT ${most}`,
    nearest:
      semantic === null
        ? selectNoId
        : Prisma.sql`(SELECT id FROM measured WHERE distance IS NOT NULL ORDER BY distance, id LIMIT ${most})
            ${addAbout(type, query, Prisma.sql`SELECT id, distance, subject_key FROM measured`)}
            ${addMentions(type, query)}`,
    join: (name) => Prisma.sql`JOIN measured m ON m.id = ${Prisma.raw(name)}.id`,
    similarity: asSimilarity(Prisma.sql`m.distance`),
    wholeSimilarity: asSimilarity(Prisma.sql`m.whole_distance`),
    words: keyword === null ? Prisma.sql`m.words` : Prisma.sql`coalesce(m.words, ${scoreNoWords(keyword)})`,
  };
}

/** Columns of `measured` besides those that are shown. */
const rankedColumns: Record<MemoryType, readonly string[]> = {
  episode: ['session_id'],
  fact: ['subject_key', 'predicate_key'],
  rule: [],
};

/** Finds rows of a type that has many through the index of its words and that of its vectors. */
export function readByIndexes(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): CandidateSource {
  const { keyword, semantic, most, filter } = query;
  const table = rowsToSearch(type, filter);
  // Row by row through the primary key: the OFFSET keeps it from becoming a join. The planner cannot know how few rows an
  // index found nor that they are in memory, and would rather read a table of thousands.
  const lookUp = (name: string, where: Prisma.Sql): Prisma.Sql => Prisma.sql`CROSS JOIN LATERAL (
    SELECT * FROM ${table} m WHERE ${where} AND m.id = ${Prisma.raw(name)}.id OFFSET 0) m`;
  return {
    rows: Prisma.empty,
    matched:
      keyword === null
        ? selectNoMatch
        : Prisma.sql`
          SELECT id, session_id, created_at, words, ${sumWords(keyword)} AS score FROM (
            SELECT m.id, ${sessionId(type)}, m.created_at, ${scoreWords(keyword)} AS words
            FROM (${selectWordMatches(type, keyword, filter)}) w(id) ${lookUp('w', conditions)}
            OFFSET 0
          ) matching
          ORDER BY score DESC, created_at DESC, id LIMIT ${most}`,
    nearest:
      semantic === null
        ? selectNoId
        : Prisma.sql`(${selectNearest(table, conditions, semantic, most)})
            ${addAbout(type, query, Prisma.sql`SELECT m.id, ${distance(semantic)} AS distance, m.subject_key FROM ${table} m WHERE ${conditions} AND ${isAbout(query)}`)}`,
    join: (name) => lookUp(name, Prisma.sql`m.tenant_id = ${filter.tenantId}`),
    similarity: asSimilarity(distance(semantic)),
    wholeSimilarity: asSimilarity(wholeDistance(semantic)),
    words: keyword === null ? Prisma.sql`NULL::float8[]` : scoreWords(keyword),
  };
}

/** Adds the nearest facts of the subjects that are asked about, which others may be nearer than. */
function addAbout(type: MemoryType, query: CandidateQuery, rows: Prisma.Sql): Prisma.Sql {
  if (type !== 'fact' || query.about === null || query.about.subjects.length === 0) return Prisma.empty;
  return Prisma.sql`UNION (
    SELECT id FROM (${rows} OFFSET 0) m WHERE distance IS NOT NULL AND ${isAbout(query)}
    ORDER BY distance, id LIMIT ${query.most})`;
}

/** Adds the nearest of those that mention the person in question: "Apprentice Jonas started in May", asked for the trainee. */
function addMentions(type: MemoryType, { about, most }: CandidateQuery): Prisma.Sql {
  if (type === 'episode' || about === null || about.names.length === 0) return Prisma.empty;
  return Prisma.sql`UNION (
    SELECT id FROM measured m WHERE distance IS NOT NULL AND m.search_vector @@ ${askedNames}
    ORDER BY distance, id LIMIT ${most})`;
}

function isAbout({ about }: CandidateQuery): Prisma.Sql {
  return Prisma.sql`m.subject_key = ANY (${[...(about?.subjects ?? [])]}::text[])`;
}

function selectNearest(table: Prisma.Sql, conditions: Prisma.Sql, semantic: SemanticQuery, most: number): Prisma.Sql {
  const column = vectorColumn(semantic);
  return Prisma.sql`
    SELECT m.id FROM ${table} m WHERE ${conditions} AND m.${column}_version_id = ${semantic.version.id}::uuid
    ORDER BY m.${column} <=> ${askedVector} LIMIT ${most}`;
}

const selectNoId = Prisma.sql`SELECT NULL::uuid AS id WHERE false`;
const selectNoMatch = Prisma.sql`
  SELECT NULL::uuid AS id, NULL::uuid AS session_id, NULL::timestamptz AS created_at, NULL::float8[] AS words,
    NULL::float8 AS score
  WHERE false`;

function sessionId(type: MemoryType): Prisma.Sql {
  return type === 'episode' ? Prisma.sql`m.session_id` : Prisma.sql`NULL::uuid AS session_id`;
}

/** The names of whom a question is about, as a tsquery. */
export const askedNames = Prisma.sql`(SELECT names FROM asked)`;

const askedVector = Prisma.sql`(SELECT vector FROM asked)`;

/** The cosine distance of row `m`; null without a vector of the version that is searched. */
function distance(semantic: SemanticQuery | null): Prisma.Sql {
  return semantic === null ? Prisma.sql`NULL::float8` : distanceTo(askedVector, semantic);
}

function wholeDistance(semantic: SemanticQuery | null): Prisma.Sql {
  if (semantic === null || semantic.whole === null) return Prisma.sql`NULL::float8`;
  return distanceTo(Prisma.sql`(SELECT whole FROM asked)`, semantic);
}

function distanceTo(vector: Prisma.Sql, semantic: SemanticQuery): Prisma.Sql {
  const column = vectorColumn(semantic);
  return Prisma.sql`CASE WHEN m.${column}_version_id = ${semantic.version.id}::uuid THEN m.${column} <=> ${vector} END`;
}

function asSimilarity(distanceToQuery: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`nullif(1 - ${distanceToQuery}, 'NaN')`;
}

function vectorColumn({ version }: SemanticQuery): Prisma.Sql {
  return Prisma.raw(version.slot === 'primary' ? 'embedding' : 'alternate_embedding');
}
