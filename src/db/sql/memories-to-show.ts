import { Prisma } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../names.ts';
import { memoryTables, type MemoryType } from './memory-snapshot.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';

/** What the line of a memory is written from, and what ranks it. The other columns, vectors above all, are dear to read. */
const common = ['id', 'version', 'content', 'importance', 'createdAt', 'lastReferencedAt'] as const;
const decaying = ['scope', 'permanence', 'confidence', 'decayRate', 'lastConfirmedAt'] as const;
const ofFacts = ['subject', 'predicate', 'kind', 'observedAt', 'validTo', 'sealedContent', 'dataKeyId'] as const;
type Column = (typeof common)[number] | (typeof decaying)[number] | (typeof ofFacts)[number] | 'maturity';
const columns: Record<MemoryType, readonly Column[]> = {
  episode: [...common, 'observedAt'],
  fact: [...common, ...decaying, ...ofFacts],
  rule: [...common, ...decaying, 'maturity'],
};

/** The names in the database of what is shown of a type. */
export function columnsToShow(type: MemoryType): string[] {
  return columns[type].map(toSnakeCase);
}

/**
 * A row to show is a list of texts and a list of numbers, in the same order for every type: to write a value of JSON the
 * database looks up its type each time, but only once for a list. Moments in milliseconds since 1970.
 */
const texts: readonly Column[] = [
  'id',
  'content',
  'scope',
  'permanence',
  'maturity',
  'subject',
  'predicate',
  'kind',
  'sealedContent',
  'dataKeyId',
];
const numbers: readonly Column[] = ['version', 'importance', 'confidence', 'decayRate'];
const moments: readonly Column[] = ['createdAt', 'lastReferencedAt', 'lastConfirmedAt', 'observedAt', 'validTo'];

export type ListedRow = [texts: (string | null)[], numbers: (number | null)[]];

/** Of the row `m`, as a list. */
export function rowToShow(type: MemoryType): Prisma.Sql {
  const listed = (names: readonly Column[], cast: string, write = (column: string): string => column): string[] =>
    names.map((name) => (columns[type].includes(name) ? write(`m.${toSnakeCase(name)}`) : 'NULL') + cast);
  const written = [...listed(numbers, '::float8'), ...listed(moments, '::float8', milliseconds)];
  return Prisma.raw(`json_build_array(ARRAY[${listed(texts, '::text').join(', ')}], ARRAY[${written.join(', ')}])`);
}

/** A row by the names that it has in here. What its type does not have is null. */
export function readRow([said, measured]: ListedRow): Record<Column, unknown> {
  const [id, content, scope, permanence, maturity, subject, predicate, kind, sealedContent, dataKeyId] = said;
  const [version, importance, confidence, decayRate, ...times] = measured;
  const [createdAt, lastReferencedAt, lastConfirmedAt, observedAt, validTo] = times.map(asMoment);
  return {
    id,
    content,
    scope,
    permanence,
    maturity,
    subject,
    predicate,
    kind,
    sealedContent,
    dataKeyId,
    version,
    importance,
    confidence,
    decayRate,
    createdAt,
    lastReferencedAt,
    lastConfirmedAt,
    observedAt,
    validTo,
  };
}

function asMoment(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

/** Rounded, for a moment has no more than milliseconds; the exact `extract` takes ten times as long. */
export function milliseconds(column: string): string {
  return `round(date_part('epoch', ${column}) * 1000)`;
}

export interface MemoryRowToShow {
  type: MemoryType;
  /** By the names that rows have in here. */
  row: Record<string, unknown>;
}

/** What the statement below answered. */
export function readMemoriesToShow(answer: string | null | undefined): MemoryRowToShow[] {
  const found = JSON.parse(answer ?? '[]') as { type: MemoryType; row: ListedRow }[];
  return found.map(({ type, row }) => ({ type, row: readRow(row) }));
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
