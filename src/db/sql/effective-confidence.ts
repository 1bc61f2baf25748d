import { Prisma } from '../../generated/prisma/client.ts';

/**
 * `effectiveConfidence` of src/memory/confidence.ts, for statements that filter or order by it; a test compares the two.
 * A warning does not fade: its decay rate is zero.
 */
export function effectiveConfidenceAt(at: Date, alias?: string): Prisma.Sql {
  const of = Prisma.raw(alias === undefined ? '' : `${alias}.`);
  return Prisma.sql`(${of}confidence * exp(-${of}decay_rate
    * greatest(0, extract(epoch FROM ${at}::timestamptz - coalesce(${of}last_confirmed_at, ${of}created_at))::float8 / 86400)))`;
}

export function effectiveConfidenceSql(_type: 'fact' | 'rule', at: Date): Prisma.Sql {
  return effectiveConfidenceAt(at, 'm');
}
