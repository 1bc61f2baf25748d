import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryFilter } from './memory-filter.ts';
import { rowsToSearch } from './search-rows.ts';

/** The share at which a word counts for an episode if it occurs in another episode of its session. */
export const neighbourShares = {
  previous: 0.6,
  secondPrevious: 0.5,
  next: 0.4,
  secondNext: 0.2,
  /** Replaces `previous` where the previous episode asks something. */
  reply: 0.95,
};

/** Whether episode `m` ends with a question: only emoji, quotation marks and remarks in brackets follow its mark. */
export const endsWithQuestion = Prisma.sql`(right(m.content, 1000) ~ ${String.raw`[?？؟](\[[^]]*\]|\([^)]*\)|[^[:alnum:]])*$`})`;

/** What is read of the episodes in `matched`, which lend. */
export interface LenderSource {
  /** Joins row `m` to `matched`. */
  join: Prisma.Sql;
  /** The similarity of row `m`. */
  similarity: Prisma.Sql;
}

/**
 * Selects the episodes beside those in `matched`, with what these lend: the words just before and after are about the
 * same thing, and a reply is about what was asked. The OFFSET makes the database read each lender once, not once for each
 * of its neighbours.
 */
export function selectLentEpisodes(conditions: Prisma.Sql, filter: MemoryFilter, lender: LenderSource): Prisma.Sql {
  return Prisma.sql`
    SELECT m.id, m.share * lender.score AS score, m.share,
      CASE WHEN m.replies THEN lender.similarity END AS similarity, lender.words
    FROM (
      SELECT matched.*, ${endsWithQuestion} AS asks, ${lender.similarity} AS similarity
      FROM matched ${lender.join}
      OFFSET 0
    ) lender CROSS JOIN LATERAL (
      ${selectNeighbours(filter, 'before')} UNION ALL ${selectNeighbours(filter, 'after')}
    ) m
    WHERE ${conditions}`;
}

/** The two episodes on one side of the lender. To those before it the lender is the next one, to those after the previous. */
function selectNeighbours(filter: MemoryFilter, side: 'before' | 'after'): Prisma.Sql {
  const { previous, secondPrevious, next, secondNext, reply } = neighbourShares;
  const { sign, order, first, second, replies } =
    side === 'before'
      ? { sign: '<', order: 'DESC', first: `${next}`, second: secondNext, replies: 'false' }
      : {
          sign: '>',
          order: 'ASC',
          first: `CASE WHEN lender.asks THEN ${reply} ELSE ${previous} END`,
          second: secondPrevious,
          replies: 'lender.asks AND distance = 1',
        };
  const byDistance = Prisma.raw(`n.created_at ${order}, n.id ${order}`);
  return Prisma.sql`(
    SELECT near.*, (CASE distance WHEN 1 THEN ${Prisma.raw(first)} ELSE ${Prisma.raw(`${second}`)} END)::float8 AS share,
      ${Prisma.raw(replies)} AS replies
    FROM (
      SELECT n.*, row_number() OVER (ORDER BY ${byDistance}) AS distance
      FROM ${Prisma.raw(filter.isPast ? 'past_neighbours' : 'episodes')} n
      WHERE n.tenant_id = ${filter.tenantId} AND n.session_id = lender.session_id
        AND (n.created_at, n.id) ${Prisma.raw(sign)} (lender.created_at, lender.id)
        AND n.forgotten_at IS NULL AND n.expires_at > ${filter.at}::timestamptz
      ORDER BY ${byDistance} LIMIT 2
    ) near)`;
}

/** For the WITH of a search of the past, which has no index of sessions: collects once the episodes that may be lent to. */
export function withPastNeighbours(filter: MemoryFilter): Prisma.Sql {
  if (!filter.isPast) return Prisma.empty;
  return Prisma.sql`past_neighbours AS MATERIALIZED (
    SELECT * FROM ${rowsToSearch('episode', filter)} WHERE session_id IN (SELECT session_id FROM matched)),`;
}
