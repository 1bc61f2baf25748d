import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from '../tables.ts';
import { pageWithTotal } from './page-with-total.ts';

export interface StatesQuery {
  tenantId: string;
  type: MemoryType;
  at: Date;
  ids?: string[];
  /** Columns that must have one of these values, as text. */
  equal?: Partial<Record<'validity' | 'scope' | 'butler' | 'maturity' | 'permanence', string[]>>;
  subject?: string;
  predicate?: string;
  offset?: number;
  limit?: number;
}

/**
 * The last state of each memory of a type that was recorded up to a moment, in the order in which they came to be. What
 * was is over and cannot change, so a page by number holds.
 */
export function statesAt(query: StatesQuery): Prisma.Sql {
  const { tenantId, type, at, ids, limit = 1, offset = 0 } = query;
  const only = ids === undefined ? Prisma.empty : Prisma.sql`AND entity_id = ANY(${ids})`;
  const states = Prisma.sql`
    SELECT state FROM (
      SELECT DISTINCT ON (entity_id) payload->'after' AS state FROM memory_events
      WHERE tenant_id = ${tenantId} AND entity_type = ${type} AND occurred_at <= ${at} ${only}
      ORDER BY entity_id, sequence DESC
    ) states
    WHERE jsonb_typeof(state) = 'object'
      AND (NOT state ? 'expires_at' OR (state->>'expires_at')::timestamptz > ${at}) ${conditions(query)}`;
  return pageWithTotal(states, "(state->>'created_at')::timestamptz, state->>'id'", { offset, limit });
}

function conditions({ equal = {}, subject, predicate }: StatesQuery): Prisma.Sql {
  const parts = Object.entries(equal).map(([column, values]) => Prisma.sql`AND state->>${column} = ANY(${values})`);
  if (subject !== undefined) parts.push(Prisma.sql`AND memory_key(state->>'subject') = memory_key(${subject})`);
  if (predicate !== undefined) parts.push(Prisma.sql`AND memory_key(state->>'predicate') = memory_key(${predicate})`);
  return parts.length === 0 ? Prisma.empty : Prisma.join(parts, ' ');
}
