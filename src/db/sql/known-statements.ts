import { Prisma } from '../../generated/prisma/client.ts';

export interface FactStatement {
  tenantId: string;
  scope: string;
  subject: string;
  predicate: string;
  content: string;
}

function saysTheSame({ tenantId, scope, subject, predicate, content }: FactStatement): Prisma.Sql {
  return Prisma.sql`f.tenant_id = ${tenantId} AND f.scope = ${scope} AND f.subject_key = memory_key(${subject})
    AND f.predicate_key = memory_key(${predicate}) AND f.content = ${content}`;
}

/** The live event of that moment which says the same. */
export function findSameEvent(statement: FactStatement, observedAt: Date | null): Prisma.Sql {
  return Prisma.sql`
    SELECT f.id::text AS id FROM facts f
    WHERE ${saysTheSame(statement)} AND f.kind = 'event' AND f.validity IN ('active', 'fading')
      AND f.observed_at IS NOT DISTINCT FROM ${observedAt}::timestamptz
    ORDER BY f.created_at, f.id LIMIT 1`;
}

/** A fact that says the same, and that somebody forgot after that moment. */
export function findRetracted(statement: FactStatement, after: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT f.id::text AS id FROM facts f
    WHERE ${saysTheSame(statement)} AND f.validity = 'retracted' AND EXISTS (
      SELECT FROM memory_events e
      WHERE e.tenant_id = f.tenant_id AND e.entity_type = 'fact' AND e.entity_id = f.id::text
        AND e.event_type = 'fact.retracted' AND e.occurred_at >= ${after}::timestamptz)
    LIMIT 1`;
}

export interface SameRule {
  id: string;
  validity: string;
  maturity: string;
  forgottenAt: Date | null;
}

/** Rules of a scope with the same words, or that had them before they became a warning. */
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
    SELECT r.id::text AS id, r.validity, r.maturity, r.forgotten_at AS "forgottenAt" FROM rules r
    WHERE r.tenant_id = ${tenantId} AND r.scope = ${scope}
      AND lower(coalesce(r.original_content, r.content)) = lower(${content})
    ORDER BY r.created_at, r.id`;
}
