import { Prisma } from '../../generated/prisma/client.ts';

/** The ids of the latest judgements that count of several rules, at most `limit` of each. */
export function latestApplications(tenantId: string, ruleIds: readonly string[], limit: number): Prisma.Sql {
  return Prisma.sql`
    SELECT owner, id FROM (
      SELECT rule_id::text AS owner, id::text AS id,
        row_number() OVER (PARTITION BY rule_id ORDER BY applied_at DESC, id DESC) AS rank
      FROM rule_applications
      WHERE tenant_id = ${tenantId} AND rule_id = ANY (${ruleIds}::uuid[]) AND retired_by_event_id IS NULL
    ) ranked
    WHERE rank <= ${limit} ORDER BY owner, rank`;
}
