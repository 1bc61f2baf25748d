import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from './memory-snapshot.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';

/** What the line of a memory is written from, and what ranks it. The other columns, vectors above all, are dear to read. */
const common = ['id', 'version', 'content', 'importance', 'created_at', 'last_referenced_at'];
const decaying = ['scope', 'permanence', 'confidence', 'decay_rate', 'last_confirmed_at'];
const columns: Record<MemoryType, readonly string[]> = {
  episode: [...common, 'observed_at'],
  fact: [...common, ...decaying, 'subject', 'predicate', 'kind', 'observed_at', 'valid_to'],
  rule: [...common, ...decaying, 'maturity'],
};

export interface MemoryToShow {
  type: MemoryType;
  row: Prisma.JsonObject;
}

/** Some memories by id, in one statement. */
export function selectMemoriesToShow(
  tenantId: string,
  references: readonly { type: MemoryType; id: string }[],
): Prisma.Sql {
  const types = [...new Set(references.map(({ type }) => type))];
  const parts = types.map((type) => {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id);
    return rowsOf(type, Prisma.sql`m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[])`);
  });
  return Prisma.sql`${Prisma.join(parts, ' UNION ALL ')}`;
}

export interface StandingQuery {
  filter: RowFilter;
  /** Facts about these subjects, in the form of their keys, that are permanent or have one of these predicates. */
  identity: { subjects: readonly string[]; predicates: readonly string[]; most: number };
  /** How many of the newest episodes; 0 for none. */
  recentEpisodes: number;
}

/** What belongs into a context whatever the prompt is about, in one statement. */
export function selectStandingMemories({ filter, identity, recentEpisodes }: StandingQuery): Prisma.Sql {
  const isIdentity = Prisma.sql`m.kind = 'state' AND m.subject_key = ANY (${[...identity.subjects]}::text[])
    AND (m.permanence = 'permanent' OR m.predicate_key = ANY (${[...identity.predicates]}::text[]))`;
  const facts = rowsOf('fact', Prisma.sql`${conditionsOf('fact', filter)} AND ${isIdentity}`);
  const episodes = rowsOf('episode', conditionsOf('episode', filter));
  return Prisma.sql`
    (${facts} ORDER BY m.importance DESC, m.created_at DESC, m.id LIMIT ${identity.most})
    UNION ALL (${episodes} ORDER BY m.created_at DESC, m.id LIMIT ${recentEpisodes})`;
}

function conditionsOf(type: MemoryType, filter: RowFilter): Prisma.Sql {
  return rowConditions(type, filter) ?? Prisma.sql`false`;
}

function rowsOf(type: MemoryType, conditions: Prisma.Sql): Prisma.Sql {
  const pairs = columns[type].map((name) => `'${name}', m.${name}`).join(', ');
  return Prisma.sql`
    SELECT ${type}::text AS type, json_build_object(${Prisma.raw(pairs)}) AS row
    FROM ${Prisma.raw(memoryTables[type])} m WHERE ${conditions}`;
}
