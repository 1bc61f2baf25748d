import { Prisma } from '../../generated/prisma/client.ts';

/**
 * `effectiveConfidence` of src/memory/confidence.ts, for statements that filter or order by it; a test compares the two.
 * A warning does not fade: its decay rate is zero. PostgreSQL refuses what is too near to zero for it: hence the bounds,
 * which are as good as zero.
 */
export function effectiveConfidenceAt(at: Date, alias?: string): Prisma.Sql {
  const of = Prisma.raw(alias === undefined ? '' : `${alias}.`);
  const days = Prisma.sql`greatest(0,
    extract(epoch FROM ${at}::timestamptz - coalesce(${of}last_confirmed_at, ${of}created_at))::float8 / 86400)`;
  return Prisma.sql`(CASE WHEN ${of}confidence < 1e-100 THEN 0
    ELSE ${of}confidence * exp(-least(${of}decay_rate * ${days}, 230)) END)`;
}
