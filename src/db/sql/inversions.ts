import { Prisma } from '../../generated/prisma/client.ts';
import { pageOfDue } from './page-of-due.ts';

export interface InversionThresholds {
  minHarmful: number;
  maxEffectiveness: number;
}

/** The next rules by id that are due for inversion. */
export function findInversions(
  tenantId: string,
  thresholds: InversionThresholds,
  after: string,
  limit: number,
): Prisma.Sql {
  return pageOfDue(Prisma.sql`
    SELECT m.id, 'inverted' AS outcome FROM rules m
    WHERE m.tenant_id = ${tenantId} AND m.id > ${after}::uuid AND ${isDueForInversion(tenantId, thresholds)}
    ORDER BY m.id LIMIT ${limit}`);
}

/**
 * As `isAntiPattern` says it, of a live rule `m`. One that was inverted before has its text back because a person wanted
 * it so: only a further harmful mark inverts that again.
 */
export function isDueForInversion(tenantId: string, thresholds: InversionThresholds): Prisma.Sql {
  return Prisma.sql`(m.maturity <> 'anti_pattern' AND m.validity IN ('active', 'fading') AND m.forgotten_at IS NULL
    AND m.harmful_count >= ${thresholds.minHarmful}
    AND m.success_count / (m.success_count + 4 * m.harmful_count + 0.01::float8) < ${thresholds.maxEffectiveness}::float8
    AND NOT EXISTS (
      SELECT FROM memory_events e WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'rule'
        AND e.entity_id = m.id::text AND e.event_type = 'rule.inverted'))`;
}
