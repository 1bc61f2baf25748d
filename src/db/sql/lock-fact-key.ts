import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Writers of one fact key take turns until their transactions end. A row lock would not do: there may be no row yet.
 * Two keys with the same hash merely wait for each other.
 */
export function lockFactKey(tenantId: string, scope: string, subject: string, predicate: string): Prisma.Sql {
  return Prisma.sql`
    SELECT pg_advisory_xact_lock(
      hashtextextended(jsonb_build_array(${tenantId}::text, ${scope}::text, memory_key(${subject}), memory_key(${predicate}))::text, 0)
    )::text`;
}
