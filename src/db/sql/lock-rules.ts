import { Prisma } from '../../generated/prisma/client.ts';

/** Rules that are about to change, always in the same order: two writers never wait for each other. */
export function lockRules(tenantId: string, ids: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT 1 AS locked FROM rules WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::uuid[]) ORDER BY id FOR UPDATE`;
}

/** Those who would write a rule with the same words into one scope take turns. */
export function lockRuleTexts(tenantId: string, rules: readonly { scope: string; content: string }[]): Prisma.Sql {
  return Prisma.sql`
    SELECT pg_advisory_xact_lock(hash)::text FROM (
      SELECT DISTINCT hashtextextended(jsonb_build_array(${tenantId}::text, scope, lower(content))::text, 2) AS hash
      FROM unnest(${rules.map(({ scope }) => scope)}::text[], ${rules.map(({ content }) => content)}::text[])
        AS r (scope, content)
      ORDER BY hash OFFSET 0
    ) hashes`;
}
