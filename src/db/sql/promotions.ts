import { Prisma } from '../../generated/prisma/client.ts';
import { pageOfDue } from './page-of-due.ts';

export interface PromotionQuery {
  tenantId: string;
  /** Since it was stored, or since its last promotion. */
  minReferences: number;
  minSessions: number;
  /** Stored, or last promoted, at this moment or before. */
  notAfter: Date;
  /** One class up, and the decay rate of each. */
  steps: readonly { from: string; to: string; decayRate: number }[];
}

/** The next live facts by id, and which of them have earned the next class of permanence. */
export function findPromotions(query: PromotionQuery, after: string, limit: number): Prisma.Sql {
  return pageOfDue(Prisma.sql`
    SELECT m.id, CASE WHEN ${isDue(query)} THEN 'promoted' END AS outcome
    FROM (
      SELECT m.id, m.permanence, m.reference_count, m.reference_sessions, m.created_at FROM facts m
      WHERE m.tenant_id = ${query.tenantId} AND m.id > ${after}::uuid AND m.validity IN ('active', 'fading')
      ORDER BY m.id LIMIT ${limit}
    ) m`);
}

/**
 * The change of a row `m`, for `changeMemories`. Its event keeps the references so far, and its sessions are cleared: the
 * next step needs new ones.
 */
export function promotionChange(query: PromotionQuery): Record<'due' | 'set' | 'eventType' | 'details', Prisma.Sql> {
  return {
    due: Prisma.sql`m.validity IN ('active', 'fading') AND ${isDue(query)}`,
    set: Prisma.sql`permanence = ${stepOf(query, ({ to }) => Prisma.sql`${to}::text`)},
      decay_rate = ${stepOf(query, ({ decayRate }) => Prisma.sql`${decayRate}::float8`)}, reference_sessions = '{}'`,
    eventType: Prisma.raw(`'fact.promoted'::text`),
    details: Prisma.raw(`jsonb_build_object('referenceCount', m.reference_count)`),
  };
}

function stepOf({ steps }: PromotionQuery, value: (step: PromotionQuery['steps'][number]) => Prisma.Sql): Prisma.Sql {
  const cases = steps.map((step) => Prisma.sql`WHEN ${step.from} THEN ${value(step)}`);
  return Prisma.sql`CASE m.permanence ${Prisma.join(cases, ' ')} END`;
}

/** An undone promotion counts as well: who undid it does not want it again for the same references. */
function isDue({ tenantId, minReferences, minSessions, notAfter, steps }: PromotionQuery): Prisma.Sql {
  const classes = steps.map(({ from }) => from);
  return Prisma.sql`(CASE WHEN m.permanence = ANY (${classes}::text[]) AND m.reference_count >= ${minReferences}
      AND m.created_at <= ${notAfter}::timestamptz AND cardinality(m.reference_sessions) >= ${minSessions} THEN (
    SELECT m.reference_count - coalesce(last.reference_count, 0) >= ${minReferences}
      AND coalesce(last.occurred_at, m.created_at) <= ${notAfter}::timestamptz
    FROM (SELECT) one LEFT JOIN LATERAL (
      SELECT e.occurred_at, (e.payload->>'referenceCount')::int AS reference_count FROM memory_events e
      WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'fact' AND e.entity_id = m.id::text
        AND e.event_type = 'fact.promoted'
      ORDER BY e.sequence DESC LIMIT 1
    ) last ON true
  ) ELSE false END)`;
}
