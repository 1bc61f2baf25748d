import { Prisma } from '../../generated/prisma/client.ts';
import { effectiveConfidenceAt } from './effective-confidence.ts';

export interface StatsQuery {
  tenantId: string;
  /** Facts and rules of "global" and this scope, episodes of this butler; null for all. */
  scope: string | null;
  now: Date;
}

/** Ten equal steps from 0 to 1; 1 itself is in the last. */
const step = (value: Prisma.Sql): Prisma.Sql => Prisma.sql`least(9, greatest(0, floor(${value} * 10)))::int`;

function inScope(scope: string | null): Prisma.Sql {
  return scope === null ? Prisma.empty : Prisma.sql`AND scope IN ('global', ${scope})`;
}

/** Expired and forgotten episodes count nowhere. */
export function episodeStats({ tenantId, scope, now }: StatsQuery): Prisma.Sql {
  const ofButler = scope === null ? Prisma.empty : Prisma.sql`AND butler = ${scope}`;
  return Prisma.sql`
    SELECT consolidation_status AS status, count(*)::int AS count, min(created_at) AS oldest FROM episodes
    WHERE tenant_id = ${tenantId} AND forgotten_at IS NULL AND expires_at > ${now} ${ofButler}
    GROUP BY consolidation_status`;
}

export function factStats({ tenantId, scope, now }: StatsQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT validity, permanence, kind, ${step(effectiveConfidenceAt(now))} AS step, count(*)::int AS count
    FROM facts WHERE tenant_id = ${tenantId} ${inScope(scope)}
    GROUP BY 1, 2, 3, 4`;
}

export function ruleStats({ tenantId, scope, now }: StatsQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT validity, maturity, disabled_at IS NOT NULL AS disabled, ${step(effectiveConfidenceAt(now))} AS confidence_step,
      CASE WHEN applied_count = 0 THEN NULL ELSE ${step(Prisma.raw('effectiveness_score'))} END AS effectiveness_step, count(*)::int AS count
    FROM rules WHERE tenant_id = ${tenantId} ${inScope(scope)}
    GROUP BY 1, 2, 3, 4, 5`;
}
