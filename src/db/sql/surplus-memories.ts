import { Prisma } from '../../generated/prisma/client.ts';
import { pageOfDue } from './page-of-due.ts';

export interface SurplusQuery {
  type: 'fact' | 'rule';
  tenantId: string;
  at: Date;
  /** Facts and rules of each generation that one butler may have. */
  mid: number;
  long: number;
}

/**
 * Live facts or rules beyond what a butler may have of a generation, which both types share: the least recently
 * referenced, confirmed or shown in a context first, permanent facts after all others. Warnings count and stay. Each page ranks anew: what went before
 * makes the surplus smaller by as much.
 */
export function findSurplus(query: SurplusQuery, after: string, limit: number): Prisma.Sql {
  const { type, tenantId } = query;
  return pageOfDue(Prisma.sql`
    SELECT m.id, 'evicted' AS outcome FROM (
      SELECT m.*, row_number() OVER (PARTITION BY m.source_butler, m.is_long
          ORDER BY m.is_removable DESC, m.is_permanent, m.used_at, m.id) AS place,
        count(*) OVER (PARTITION BY m.source_butler, m.is_long) AS total
      FROM (
        SELECT 'fact' AS type, m.id, m.source_butler, m.permanence IN ('stable', 'permanent') AS is_long,
          m.permanence = 'permanent' AS is_permanent, true AS is_removable, ${usedAt} AS used_at
        FROM facts m WHERE m.tenant_id = ${tenantId} AND ${isCounted('fact')}
        UNION ALL
        SELECT 'rule', m.id, m.source_butler, m.maturity = 'proven', false, m.maturity <> 'anti_pattern', ${usedAt}
        FROM rules m WHERE m.tenant_id = ${tenantId} AND ${isCounted('rule')}
      ) m
    ) m
    WHERE m.type = ${type} AND m.is_removable
      AND m.total - m.place >= CASE WHEN m.is_long THEN ${query.long}::bigint ELSE ${query.mid}::bigint END
      AND m.id > ${after}::uuid
    ORDER BY m.id LIMIT ${limit}`);
}

/** The change of a row `m`, for `changeMemories`. What was asked for, confirmed or shown since is in use after all. */
export function evictionChange({ type, at }: SurplusQuery): Record<'due' | 'set' | 'eventType', Prisma.Sql> {
  const isRemovable = Prisma.raw(type === 'fact' ? 'true' : `m.maturity <> 'anti_pattern'`);
  return {
    due: Prisma.sql`${isCounted(type)} AND ${isRemovable} AND ${usedAt} <= ${at}::timestamptz`,
    set: Prisma.raw(`validity = 'expired'`),
    eventType: Prisma.raw(`'${type}.evicted'::text`),
  };
}

/**
 * What no butler learned was put there by somebody who wants it there. What a person disabled waits as it is, and takes no
 * room from the others.
 */
function isCounted(type: 'fact' | 'rule'): Prisma.Sql {
  const isUsed = type === 'fact' ? '' : 'AND m.disabled_at IS NULL AND m.forgotten_at IS NULL';
  return Prisma.raw(`m.validity IN ('active', 'fading') AND m.source_butler IS NOT NULL ${isUsed}`);
}

const usedAt = Prisma.raw(
  'greatest(coalesce(m.last_referenced_at, m.created_at), m.last_confirmed_at, m.last_shown_at)',
);
