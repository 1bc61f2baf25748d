import { Prisma } from '../../generated/prisma/client.ts';
import { effectiveConfidenceAt } from './effective-confidence.ts';
import { isDueForInversion, type InversionThresholds } from './inversions.ts';
import { memoryTables } from '../tables.ts';
import { pageOfDue } from './page-of-due.ts';

export interface DecayQuery {
  type: 'fact' | 'rule';
  tenantId: string;
  at: Date;
  /** Below it a memory fades. */
  retrieval: number;
  /** Below it a memory expires. */
  expiry: number;
  inversion: InversionThresholds;
}

/** The next live facts or rules by id, and what is to become of those whose validity is not what their confidence says. */
export function findDecayed(query: DecayQuery, after: string, limit: number): Prisma.Sql {
  const deserved = validityOf(query, Prisma.raw('m.effective'));
  return pageOfDue(Prisma.sql`
    SELECT m.id, CASE WHEN m.is_swept AND ${isDue(deserved)} THEN ${outcomeOf(deserved)} END AS outcome
    FROM (
      -- Its limit keeps the confidence from being computed once for each place that names it.
      SELECT m.id, m.validity, m.decay_rate, ${isSwept(query)} AS is_swept,
        ${effectiveConfidenceAt(query.at, 'm')} AS effective
      FROM ${Prisma.raw(memoryTables[query.type])} m
      WHERE m.tenant_id = ${query.tenantId} AND m.id > ${after}::uuid AND m.validity IN ('active', 'fading')
      ORDER BY m.id LIMIT ${limit}
    ) m`);
}

/** The change of a row `m` that was found, for `changeMemories`: it looks again at what it finds. */
export function decayChange(query: DecayQuery): Record<'due' | 'set' | 'eventType', Prisma.Sql> {
  const deserved = validityOf(query, effectiveConfidenceAt(query.at, 'm'));
  return {
    due: Prisma.sql`m.validity IN ('active', 'fading') AND ${isSwept(query)} AND ${isDue(deserved)}`,
    set: Prisma.sql`validity = ${deserved}`,
    eventType: Prisma.sql`${query.type} || '.' || ${outcomeOf(deserved)}`,
  };
}

function validityOf({ retrieval, expiry }: DecayQuery, confidence: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${confidence} < ${expiry}::float8 THEN 'expired'
    WHEN ${confidence} < ${retrieval}::float8 THEN 'fading' ELSE 'active' END)`;
}

/** What does not decay gets no worse, however little confidence it was given. */
function isDue(deserved: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${deserved} <> m.validity AND (m.decay_rate > 0 OR ${deserved} = 'active'))`;
}

/** Warnings do not fade, and what a person disabled waits as it is. What is due for inversion is worth more as a warning. */
function isSwept({ type, tenantId, inversion }: DecayQuery): Prisma.Sql {
  if (type === 'fact') return Prisma.raw('true');
  return Prisma.sql`(m.maturity <> 'anti_pattern' AND m.disabled_at IS NULL AND m.forgotten_at IS NULL
    AND NOT ${isDueForInversion(tenantId, inversion)})`;
}

function outcomeOf(deserved: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE ${deserved} WHEN 'active' THEN 'recovered' ELSE ${deserved} END)`;
}
