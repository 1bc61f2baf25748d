import { Prisma } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../names.ts';
import { memoryTables, type MemoryType } from './memory-snapshot.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';

/** What the line of a memory is written from, and what ranks it. The other columns, vectors above all, are dear to read. */
const common = ['id', 'version', 'content', 'importance', 'createdAt', 'lastReferencedAt'];
const decaying = ['scope', 'permanence', 'confidence', 'decayRate', 'lastConfirmedAt'];
const columns: Record<MemoryType, readonly string[]> = {
  episode: [...common, 'observedAt'],
  fact: [...common, ...decaying, 'subject', 'predicate', 'kind', 'observedAt', 'validTo', 'sealedContent', 'dataKeyId'],
  rule: [...common, ...decaying, 'maturity'],
};
const moments = new Set(['createdAt', 'lastReferencedAt', 'lastConfirmedAt', 'observedAt', 'validTo']);

export interface MemoryRowToShow {
  type: MemoryType;
  /** By the names that rows have in here. */
  row: Record<string, unknown>;
}

/** What the statement below answered. */
export function readMemoriesToShow(answer: string | null | undefined): MemoryRowToShow[] {
  return (JSON.parse(answer ?? '[]') as MemoryRowToShow[]).map(({ type, row }) => ({ type, row: readRow(row) }));
}

/** A row as the database tells it, with its moments. */
export function readRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const name of moments) {
    const value = row[name];
    if (typeof value === 'number') row[name] = new Date(value);
  }
  return row;
}

export interface StandingQuery {
  filter: RowFilter;
  /** Facts about these subjects, in the form of their keys, that are permanent or have one of these predicates. */
  identity: { subjects: readonly string[]; predicates: readonly string[]; most: number };
  /** How many of the newest episodes; 0 for none. */
  recentEpisodes: number;
}

/** What belongs into a context whatever the prompt is about, in one statement: a JSON array. */
export function selectStandingMemories({ filter, identity, recentEpisodes }: StandingQuery): Prisma.Sql {
  const isIdentity = Prisma.sql`m.kind = 'state' AND m.subject_key = ANY (${[...identity.subjects]}::text[])
    AND (m.permanence = 'permanent' OR m.predicate_key = ANY (${[...identity.predicates]}::text[]))`;
  const facts = rowsOf('fact', Prisma.sql`${conditionsOf('fact', filter)} AND ${isIdentity}`);
  const episodes = rowsOf('episode', conditionsOf('episode', filter));
  return asJson(Prisma.sql`
    (${facts} ORDER BY m.importance DESC, m.created_at DESC, m.id LIMIT ${identity.most})
    UNION ALL (${episodes} ORDER BY m.created_at DESC, m.id LIMIT ${recentEpisodes})`);
}

/** One text instead of rows: reading it once is quicker than reading each of them. */
function asJson(rows: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`SELECT coalesce(json_agg(memory), '[]')::text FROM (${rows}) memory`;
}

function conditionsOf(type: MemoryType, filter: RowFilter): Prisma.Sql {
  return rowConditions(type, filter) ?? Prisma.sql`false`;
}

function rowsOf(type: MemoryType, conditions: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${type}::text AS type, ${rowToShow(type)} AS row
    FROM ${Prisma.raw(memoryTables[type])} m WHERE ${conditions}`;
}

/** Of the row `m`, as JSON. Moments in milliseconds since 1970. */
export function rowToShow(type: MemoryType): Prisma.Sql {
  const pairs = columns[type].map((name) => {
    const column = `m.${toSnakeCase(name)}`;
    return `'${name}', ${moments.has(name) ? `(extract(epoch FROM ${column}) * 1000)::float8` : column}`;
  });
  return Prisma.raw(`json_build_object(${pairs.join(', ')})`);
}
