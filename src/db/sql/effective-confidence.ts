import { Prisma } from '../../generated/prisma/client.ts';

/**
 * `effectiveConfidence` of src/memory/confidence.ts, for conditions that must hold before a limit; a test compares the
 * two. A warning does not fade: what did harm once would do it again.
 */
export function effectiveConfidenceSql(type: 'fact' | 'rule', at: Date): Prisma.Sql {
  const decayed = Prisma.sql`m.confidence * exp(-m.decay_rate
    * greatest(0, extract(epoch FROM ${at}::timestamptz - coalesce(m.last_confirmed_at, m.created_at))::float8 / 86400))`;
  if (type === 'fact') return decayed;
  return Prisma.sql`CASE WHEN m.maturity = 'anti_pattern' THEN m.confidence ELSE ${decayed} END`;
}
