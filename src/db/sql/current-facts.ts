import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Returns the condition that state fact `m` is the current one of its key at a moment: it holds then, and of those that do
 * it was said last. `findCurrent` of the domain says the same. Decides by the moment and not by `set_aside`, which the
 * next write or sweep brings up to date. As part of an OR it stays a filter, which leaves vector indexes in use.
 */
export function isCurrentAt(at: Date, facts: 'facts' | 'past_facts'): Prisma.Sql {
  const others = (isAside: string): Prisma.Sql => Prisma.sql`EXISTS (
    SELECT FROM ${Prisma.raw(facts)} o
    WHERE o.tenant_id = m.tenant_id AND o.scope = m.scope AND o.subject_key = m.subject_key
      AND o.predicate_key = m.predicate_key AND o.value_key = m.value_key AND o.kind = 'state'
      AND o.validity IN ('active', 'fading') AND ${Prisma.raw(isAside)} AND o.id <> m.id AND ${holdsAt('o', at)}
      AND ${saidLast('o')} > ${saidLast('m')})`;
  // Two subqueries: each has a partial index.
  return Prisma.sql`(m.kind = 'event' OR (${holdsAt('m', at)} AND NOT ${others('o.set_aside')}
    AND (NOT m.set_aside OR NOT ${others('NOT o.set_aside')})))`;
}

function holdsAt(fact: 'm' | 'o', at: Date): Prisma.Sql {
  const [from, to] = [Prisma.raw(`${fact}.valid_from`), Prisma.raw(`${fact}.valid_to`)];
  return Prisma.sql`(${from} IS NULL OR ${from} <= ${at}::timestamptz) AND (${to} IS NULL OR ${to} > ${at}::timestamptz)`;
}

function saidLast(fact: 'm' | 'o'): Prisma.Sql {
  return Prisma.raw(`ROW(greatest(coalesce(${fact}.last_confirmed_at, ${fact}.created_at),
    coalesce(${fact}.valid_from, '-infinity')), coalesce(${fact}.observed_at, ${fact}.created_at), NOT ${fact}.set_aside, ${fact}.id)`);
}
