import { Prisma } from '../../generated/prisma/client.ts';

export interface SameRule {
  id: string;
  content: string;
  validity: string;
  maturity: string;
  forgottenAt: Date | null;
}

/** Rules of a scope with the same words, or that had them before they became a warning; and warnings for all. */
export function findSameRules({
  tenantId,
  scope,
  content,
}: {
  tenantId: string;
  scope: string;
  content: string;
}): Prisma.Sql {
  return Prisma.sql`
    SELECT r.id::text AS id, r.content, r.validity, r.maturity, r.forgotten_at AS "forgottenAt" FROM rules r
    WHERE r.tenant_id = ${tenantId} AND (r.scope = ${scope} OR r.scope = 'global' AND r.maturity = 'anti_pattern')
      AND lower(coalesce(r.original_content, r.content)) = lower(${content})
    ORDER BY r.created_at, r.id`;
}
