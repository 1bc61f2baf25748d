import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import { effectiveConfidenceAt } from '../sql/effective-confidence.ts';

export interface StatsQuery {
  /** Facts and rules of "global" and this scope, episodes of this butler; null for all. */
  scope: string | null;
  now: Date;
}

/** The tenth of the range from 0 to 1 that a value is in, from 0 to 9. */
const step = (value: Prisma.Sql): Prisma.Sql => Prisma.sql`least(9, greatest(0, floor(${value} * 10)))::int`;

function inScope(scope: string | null): Prisma.Sql {
  return scope === null ? Prisma.empty : Prisma.sql`AND scope IN ('global', ${scope})`;
}

export interface EpisodeCount {
  status: string;
  count: number;
  /** Of which consolidation kept nothing. */
  nothingFound: number;
  oldest: Date;
}

/** Counts episodes by status; expired and forgotten ones are left out. */
export async function countEpisodes(client: TenantClient, { scope, now }: StatsQuery): Promise<EpisodeCount[]> {
  const ofButler = scope === null ? Prisma.empty : Prisma.sql`AND butler = ${scope}`;
  return client.$queryRaw`
    SELECT consolidation_status AS status, count(*)::int AS count,
      count(*) FILTER (WHERE nothing_found)::int AS "nothingFound", min(created_at) AS oldest FROM episodes
    WHERE tenant_id = ${client.tenantId} AND forgotten_at IS NULL AND expires_at > ${now} ${ofButler}
    GROUP BY consolidation_status`;
}

export interface FactCount {
  validity: string;
  permanence: string;
  step: number;
  count: number;
}

export async function countFacts(client: TenantClient, { scope, now }: StatsQuery): Promise<FactCount[]> {
  return client.$queryRaw`
    SELECT validity, permanence, ${step(effectiveConfidenceAt(now))} AS step, count(*)::int AS count
    FROM facts WHERE tenant_id = ${client.tenantId} ${inScope(scope)}
    GROUP BY 1, 2, 3`;
}

export interface RuleCount {
  validity: string;
  maturity: string;
  disabled: boolean;
  confidenceStep: number;
  /** Null for rules that were never applied. */
  effectivenessStep: number | null;
  count: number;
}

export async function countRules(client: TenantClient, { scope, now }: StatsQuery): Promise<RuleCount[]> {
  return client.$queryRaw`
    SELECT validity, maturity, disabled_at IS NOT NULL AS disabled, ${step(effectiveConfidenceAt(now))} AS "confidenceStep",
      CASE WHEN applied_count = 0 THEN NULL ELSE ${step(Prisma.raw('effectiveness_score'))} END AS "effectivenessStep",
      count(*)::int AS count
    FROM rules WHERE tenant_id = ${client.tenantId} ${inScope(scope)}
    GROUP BY 1, 2, 3, 4, 5`;
}
