import { Prisma } from '../../generated/prisma/client.ts';

export const linkDirections = ['outbound', 'inbound', 'both'] as const;
export type LinkDirection = (typeof linkDirections)[number];

export interface LinksQuery {
  tenantId: string;
  ends: readonly { type: string; id: string }[];
  direction: LinkDirection;
  relations: readonly string[] | null;
  /** Of each end. */
  limit: number;
}

/** The links of several memories at once, newest first, at most `limit` of each. */
export function linksOf(query: LinksQuery): Prisma.Sql {
  const { ends, direction, limit } = query;
  const sides = direction === 'both' ? (['outbound', 'inbound'] as const) : [direction];
  const parts = sides.map((side) => linksOfSide(query, side));
  return Prisma.sql`
    WITH ends AS (
      SELECT type, id::uuid AS id FROM unnest(${ends.map(({ type }) => type)}::text[], ${ends.map(({ id }) => id)}::text[]) AS e (type, id)
    ), links AS (${Prisma.join(parts, ' UNION ALL ')}), ranked AS (
      SELECT links.*, row_number() OVER (
        PARTITION BY end_type, end_id ORDER BY created_at DESC, relation, source_id, target_id
      ) AS rank FROM links
    )
    SELECT end_type, end_id::text, direction, source_type, source_id::text, target_type, target_id::text, relation, created_at
    FROM ranked WHERE rank <= ${limit} ORDER BY end_type, end_id, rank`;
}

function linksOfSide({ tenantId, relations }: LinksQuery, side: 'outbound' | 'inbound'): Prisma.Sql {
  const own = Prisma.raw(side === 'outbound' ? 'source' : 'target');
  const only =
    relations === null || relations.length === 0 ? Prisma.empty : Prisma.sql`AND l.relation = ANY(${relations})`;
  return Prisma.sql`
    SELECT e.type AS end_type, e.id AS end_id, ${side} AS direction, l.source_type, l.source_id, l.target_type, l.target_id,
      l.relation, l.created_at
    FROM ends e JOIN memory_links l
      ON l.tenant_id = ${tenantId} AND l.${own}_type = e.type AND l.${own}_id = e.id ${only}`;
}
