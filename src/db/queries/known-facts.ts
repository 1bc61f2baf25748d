import { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../database.ts';
import { statedColumns, type StatedFact } from './facts.ts';

export interface FactStatement {
  scope: string;
  subject: string;
  predicateKey: string;
  /** Null where it must not reach the database: then every fact of the key may say the same. */
  content: string | null;
}

/** Finds live events of a moment that may say the same. Sealed ones have to be opened to tell. */
export async function listSameEvents(
  transaction: Transaction,
  { scope, subject, predicateKey, content }: FactStatement,
  observedAt: Date | null,
): Promise<StatedFact[]> {
  return transaction.$queryRaw`
    SELECT ${statedColumns} FROM facts f
    WHERE f.tenant_id = ${transaction.tenantId} AND f.scope = ${scope} AND f.subject_key = memory_key(${subject})
      AND f.predicate_key = ${predicateKey} AND ${mayContain(Prisma.sql`${content}::text`)}
      AND f.kind = 'event' AND f.validity IN ('active', 'fading')
      AND f.observed_at IS NOT DISTINCT FROM ${observedAt}::timestamptz
    ORDER BY f.created_at, f.id LIMIT 100`;
}

/** Finds facts that may say the same as one of the statements, and were retracted after its moment, with its index. */
export async function listRetracted(
  transaction: Transaction,
  statements: readonly (FactStatement & { after: Date })[],
): Promise<(StatedFact & { index: number })[]> {
  if (statements.length === 0) return [];
  const { tenantId } = transaction;
  return transaction.$queryRaw`
    SELECT f.*, (given.place - 1)::int AS index
    FROM unnest(${statements.map(({ scope }) => scope)}::text[], ${statements.map(({ subject }) => subject)}::text[],
      ${statements.map(({ predicateKey }) => predicateKey)}::text[], ${statements.map(({ content }) => content)}::text[],
      ${statements.map(({ after }) => after.toISOString())}::timestamptz[])
      WITH ORDINALITY AS given (scope, subject, predicate_key, content, after, place)
    CROSS JOIN LATERAL (
      SELECT ${statedColumns} FROM facts f
      WHERE f.tenant_id = ${tenantId} AND f.scope = given.scope AND f.subject_key = memory_key(given.subject)
        AND f.predicate_key = given.predicate_key AND ${mayContain(Prisma.sql`given.content`)}
        AND f.validity = 'retracted' AND EXISTS (
          SELECT FROM memory_events e
          WHERE e.tenant_id = f.tenant_id AND e.entity_type = 'fact' AND e.entity_id = f.id::text
            AND e.event_type = 'fact.retracted' AND e.occurred_at >= given.after)
      ORDER BY f.created_at DESC, f.id LIMIT 100
    ) f`;
}

function mayContain(content: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(f.data_key_id IS NOT NULL OR f.content = coalesce(${content}, f.content))`;
}
