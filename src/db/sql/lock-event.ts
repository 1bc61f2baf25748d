import { Prisma } from '../../generated/prisma/client.ts';

/** Those who would undo one event take turns. Not a row lock: no role may update an event, so none may lock one. */
export function lockEvent(tenantId: string, eventId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT pg_advisory_xact_lock(hashtextextended(jsonb_build_array(${tenantId}::text, ${eventId}::text)::text, 1))::text`;
}
