import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTypes } from '../tables.ts';
import { pageWithTotal } from './page-with-total.ts';

export const changeKinds = ['created', 'changed', 'superseded', 'forgotten', 'expired', 'restored', 'removed'] as const;
export type ChangeKind = (typeof changeKinds)[number];

export interface ChangesQuery {
  tenantId: string;
  from: Date;
  to: Date;
  types: readonly string[] | null;
  offset: number;
  limit: number;
}

/**
 * What became of each memory between two moments: its state before the first event in between and after the last. What
 * was changed and changed back is left out.
 */
function changes({ tenantId, from, to, types }: Omit<ChangesQuery, 'offset' | 'limit'>): Prisma.Sql {
  return Prisma.sql`
    WITH touched AS (
      SELECT entity_type, entity_id, min(sequence) AS first, max(sequence) AS last, count(*)::int AS events
      FROM memory_events
      WHERE tenant_id = ${tenantId} AND occurred_at > ${from} AND occurred_at <= ${to}
        AND entity_type = ANY(${types ?? memoryTypes})
      GROUP BY entity_type, entity_id
    ), states AS (
      SELECT touched.*, coalesce(p.state, nullif(f.payload->'before', 'null')) AS before,
        nullif(l.payload->'after', 'null') AS after, l.event_type LIKE '%.erased' AS is_erased
      FROM touched
      JOIN memory_events f ON f.tenant_id = ${tenantId} AND f.sequence = touched.first
      JOIN memory_events l ON l.tenant_id = ${tenantId} AND l.sequence = touched.last
      -- The event of a deletion does not say what was deleted; the one before it does.
      LEFT JOIN LATERAL (
        SELECT e.payload->'after' AS state FROM memory_events e
        WHERE f.payload->'after' = 'null' AND e.tenant_id = ${tenantId} AND e.entity_type = touched.entity_type
          AND e.entity_id = touched.entity_id AND e.sequence < touched.first
        ORDER BY e.sequence DESC LIMIT 1
      ) p ON true
    ), changes AS (
      SELECT states.*, CASE
        WHEN after IS NULL THEN 'removed'
        WHEN ${isGone('after')} AND after->>'validity' = 'superseded' THEN 'superseded'
        WHEN ${isGone('after')} AND after->>'validity' = 'expired' THEN 'expired'
        WHEN ${isGone('after')} THEN 'forgotten'
        WHEN before IS NULL THEN 'created'
        WHEN ${isGone('before')} THEN 'restored'
        ELSE 'changed'
      END AS kind
      FROM states WHERE is_erased OR (before - 'version') IS DISTINCT FROM (after - 'version')
    )`;
}

function isGone(state: 'before' | 'after'): Prisma.Sql {
  return Prisma.raw(
    `(coalesce(${state}->>'validity', 'active') NOT IN ('active', 'fading') OR ${state}->>'forgotten_at' IS NOT NULL)`,
  );
}

export function changesBetween(query: ChangesQuery): Prisma.Sql {
  const rows = Prisma.sql`${changes(query)}
    SELECT entity_type AS type, entity_id AS id, kind, events, before, after, last FROM changes`;
  return pageWithTotal(rows, 'last DESC', query);
}

export function countChangesBetween(query: Omit<ChangesQuery, 'offset' | 'limit'>): Prisma.Sql {
  return Prisma.sql`${changes(query)}
    SELECT entity_type AS type, kind, count(*)::int AS count FROM changes GROUP BY entity_type, kind ORDER BY 1, 2`;
}
