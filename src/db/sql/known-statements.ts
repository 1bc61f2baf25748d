import { Prisma } from '../../generated/prisma/client.ts';
import { statedColumns } from '../queries/facts.ts';

export interface FactStatement {
  tenantId: string;
  scope: string;
  subject: string;
  predicate: string;
  /** Null where it must not come to the database: then every fact of the key may say the same. */
  content: string | null;
}

/** What a sealed fact says the database does not know: it is found, and has to be opened. */
function maySayTheSame({ tenantId, scope, subject, predicate, content }: FactStatement): Prisma.Sql {
  return Prisma.sql`f.tenant_id = ${tenantId} AND f.scope = ${scope} AND f.subject_key = memory_key(${subject})
    AND f.predicate_key = memory_key(${predicate})
    AND (f.data_key_id IS NOT NULL OR f.content = coalesce(${content}::text, f.content))`;
}

/** The live events of that moment which may say the same. */
export function findSameEvents(statement: FactStatement, observedAt: Date | null): Prisma.Sql {
  return Prisma.sql`
    SELECT ${statedColumns} FROM facts f
    WHERE ${maySayTheSame(statement)} AND f.kind = 'event' AND f.validity IN ('active', 'fading')
      AND f.observed_at IS NOT DISTINCT FROM ${observedAt}::timestamptz
    ORDER BY f.created_at, f.id LIMIT 100`;
}

/** Facts that may say the same, and that somebody forgot after that moment. */
export function findRetracted(statement: FactStatement, after: Date): Prisma.Sql {
  return Prisma.sql`
    SELECT ${statedColumns} FROM facts f
    WHERE ${maySayTheSame(statement)} AND f.validity = 'retracted' AND EXISTS (
      SELECT FROM memory_events e
      WHERE e.tenant_id = f.tenant_id AND e.entity_type = 'fact' AND e.entity_id = f.id::text
        AND e.event_type = 'fact.retracted' AND e.occurred_at >= ${after}::timestamptz)
    ORDER BY f.created_at DESC, f.id LIMIT 100`;
}
