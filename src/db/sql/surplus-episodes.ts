import { Prisma } from '../../generated/prisma/client.ts';
import { pageOfDue } from './page-of-due.ts';
import { isLeased, isPast, type PastEpisodesQuery } from './past-episodes.ts';

export interface SurplusEpisodesQuery extends PastEpisodesQuery {
  /** Episodes that one butler may have. */
  perButler: number;
  /** Episodes that the tenant may have. */
  perTenant: number;
}

/**
 * Consolidated episodes beyond what a butler may have, the least recently referenced or shown first, and then beyond what the tenant
 * may have, the oldest first. Each page ranks anew: what went before makes the surplus smaller by as much.
 */
export function findSurplusEpisodes(query: SurplusEpisodesQuery, after: string, limit: number): Prisma.Sql {
  return pageOfDue(Prisma.sql`
    SELECT m.id, 'evicted' AS outcome FROM (
      SELECT m.*, row_number() OVER (ORDER BY m.goes, m.is_removable DESC, m.created_at, m.id) AS place,
        count(*) FILTER (WHERE NOT m.goes) OVER () AS total
      FROM (
        SELECT m.id, m.created_at, m.is_removable, m.is_removable AND m.total - m.place >= ${query.perButler} AS goes
        FROM (
          SELECT m.id, m.created_at, ${isRemovable(query)} AS is_removable, count(*) OVER (PARTITION BY m.butler) AS total,
            row_number() OVER (PARTITION BY m.butler ORDER BY ${isRemovable(query)} DESC,
              greatest(coalesce(m.last_referenced_at, m.created_at), m.last_shown_at), m.id) AS place
          FROM episodes m WHERE m.tenant_id = ${query.tenantId} AND NOT ${isPast(query)}
        ) m
      ) m
    ) m
    WHERE (m.goes OR (m.is_removable AND m.total - m.place >= ${query.perTenant})) AND m.id > ${after}::uuid
    ORDER BY m.id LIMIT ${limit}`);
}

/** What was not consolidated is not lost before its time. */
export function isRemovable(query: { tenantId: string; at: Date }): Prisma.Sql {
  return Prisma.sql`(m.consolidation_status = 'consolidated' AND NOT ${isLeased(query)})`;
}
