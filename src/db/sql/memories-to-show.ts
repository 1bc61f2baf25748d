import { Prisma } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../shared/names.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { milliseconds, readMoments } from './moments.ts';
import { whereMemory, type MemoryFilter } from './memory-filter.ts';

/** What the line of a memory is written from, and what ranks it. The other columns, vectors above all, are dear to read. */
const common = ['id', 'version', 'content', 'importance', 'createdAt', 'lastReferencedAt'];
const decaying = ['scope', 'permanence', 'confidence', 'decayRate', 'lastConfirmedAt'];
const ofFacts = ['subject', 'predicate', 'kind', 'observedAt', 'validFrom', 'validTo', 'sealedContent', 'dataKeyId'];
const columns: Record<MemoryType, readonly string[]> = {
  episode: [...common, 'observedAt', 'consolidationStatus', 'hiddenSpans'],
  fact: [...common, ...decaying, ...ofFacts],
  rule: [...common, ...decaying, 'maturity', 'askedByUserAt'],
};

/** The names in the database of what is shown of a type. */
export function columnsToShow(type: MemoryType): string[] {
  return columns[type].map(toSnakeCase);
}

const moments: readonly string[] = [
  'createdAt',
  'lastReferencedAt',
  'lastConfirmedAt',
  'observedAt',
  'validFrom',
  'validTo',
  'askedByUserAt',
];

export interface MemoryRowToShow {
  type: MemoryType;
  /** By the names that rows have in here. */
  row: Record<string, unknown>;
}

/** What the statement below answered. */
export function readMemoriesToShow(answer: string | null | undefined): MemoryRowToShow[] {
  const found = JSON.parse(answer ?? '[]') as MemoryRowToShow[];
  for (const { row } of found) readMoments(row, moments);
  return found;
}

export interface StandingQuery {
  filter: MemoryFilter;
  /** Facts about these subjects, in the form of their keys, that are permanent or have one of these predicates. */
  identity: { subjects: readonly string[]; predicates: readonly string[]; most: number };
  /** How many rules, in the order of these maturities and then by importance. */
  rules: { maturities: readonly string[]; most: number };
  /** How many of the newest episodes; 0 for none. */
  recentEpisodes: number;
}

/** Selects what may belong into a context whatever the prompt is about, in one statement: a JSON array. */
export function selectStandingMemories({ filter, identity, rules, recentEpisodes }: StandingQuery): Prisma.Sql {
  const isIdentity = Prisma.sql`m.kind = 'state' AND m.subject_key = ANY (${[...identity.subjects]}::text[])
    AND (m.permanence = 'permanent' OR m.predicate_key = ANY (${[...identity.predicates]}::text[]))`;
  const facts = selectRows('fact', Prisma.sql`${conditionsOn('fact', filter)} AND ${isIdentity}`);
  const ruleRows = selectRows('rule', conditionsOn('rule', filter));
  const maturity = Prisma.sql`array_position(${[...rules.maturities]}::text[], m.maturity)`;
  const episodes = selectRows('episode', conditionsOn('episode', filter));
  return asJson(Prisma.sql`
    (${facts} ORDER BY m.importance DESC, m.created_at DESC, m.id LIMIT ${identity.most})
    UNION ALL (${ruleRows} ORDER BY ${maturity}, m.importance DESC, m.created_at DESC, m.id LIMIT ${rules.most})
    UNION ALL (${episodes} ORDER BY m.created_at DESC, m.id LIMIT ${recentEpisodes})`);
}

/** One text instead of rows: reading it once is quicker than reading each of them. */
function asJson(rows: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`SELECT coalesce(json_agg(memory), '[]')::text FROM (${rows}) memory`;
}

function conditionsOn(type: MemoryType, filter: MemoryFilter): Prisma.Sql {
  return whereMemory(type, filter) ?? Prisma.sql`false`;
}

function selectRows(type: MemoryType, conditions: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${type}::text AS type, ${rowToShow(type)} AS row
    FROM ${Prisma.raw(memoryTables[type])} m WHERE ${conditions}`;
}

/** Of the row `m`, as JSON. Moments in milliseconds since 1970. */
function rowToShow(type: MemoryType): Prisma.Sql {
  const pairs = columns[type].map((name) => {
    const column = `m.${toSnakeCase(name)}`;
    return `'${name}', ${moments.includes(name) ? milliseconds(column) : column}`;
  });
  return Prisma.raw(`json_build_object(${pairs.join(', ')})`);
}
