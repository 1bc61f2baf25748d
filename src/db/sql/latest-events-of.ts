import { Prisma } from '../../generated/prisma/client.ts';

/** The ids of the latest events of several memories, at most `limit` of each, newest first. */
export function latestEventsOf(
  tenantId: string,
  ends: readonly { type: string; id: string }[],
  limit: number,
): Prisma.Sql {
  return Prisma.sql`
    SELECT type, entity_id, id FROM (
      SELECT e.type, m.entity_id, m.id::text AS id,
        row_number() OVER (PARTITION BY e.type, m.entity_id ORDER BY m.sequence DESC) AS rank
      FROM unnest(${ends.map(({ type }) => type)}::text[], ${ends.map(({ id }) => id)}::text[]) AS e (type, id)
      JOIN memory_events m ON m.tenant_id = ${tenantId} AND m.entity_type = e.type AND m.entity_id = e.id
    ) ranked
    WHERE rank <= ${limit} ORDER BY type, entity_id, rank`;
}
