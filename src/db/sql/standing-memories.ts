import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, snapshotOf, type MemoryType } from './memory-snapshot.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';

export interface StandingQuery {
  filter: RowFilter;
  /** Facts about these subjects, in the form of their keys, that are permanent or have one of these predicates. */
  identity: { subjects: readonly string[]; predicates: readonly string[]; most: number };
  /** How many of the newest episodes; 0 for none. */
  recentEpisodes: number;
}

export interface StandingRow {
  type: MemoryType;
  snapshot: Prisma.JsonObject;
  /** In milliseconds since 1970. */
  referenced_at: number | null;
}

/** What belongs into a context whatever the prompt is about, in one statement. */
export function selectStandingMemories({ filter, identity, recentEpisodes }: StandingQuery): Prisma.Sql {
  const isIdentity = Prisma.sql`m.kind = 'state' AND m.subject_key = ANY (${[...identity.subjects]}::text[])
    AND (m.permanence = 'permanent' OR m.predicate_key = ANY (${[...identity.predicates]}::text[]))`;
  const facts = rowsOf('fact', filter, isIdentity, Prisma.sql`m.importance DESC, m.created_at DESC, m.id`);
  const episodes = rowsOf('episode', filter, Prisma.sql`true`, Prisma.sql`m.created_at DESC, m.id`);
  return Prisma.sql`
    SELECT * FROM (${facts} LIMIT ${identity.most}) facts
    UNION ALL SELECT * FROM (${episodes} LIMIT ${recentEpisodes}) episodes`;
}

function rowsOf(type: MemoryType, filter: RowFilter, condition: Prisma.Sql, order: Prisma.Sql): Prisma.Sql {
  const conditions = rowConditions(type, filter) ?? Prisma.sql`false`;
  return Prisma.sql`
    SELECT ${type}::text AS type, ${snapshotOf('m')} AS snapshot,
      (extract(epoch FROM m.last_referenced_at) * 1000)::float8 AS referenced_at
    FROM ${Prisma.raw(memoryTables[type])} m WHERE ${conditions} AND ${condition} ORDER BY ${order}`;
}
