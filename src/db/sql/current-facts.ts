import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Returns the condition that state fact `m` is the current one of its key at a moment: it holds then, and of those that do
 * it was said last. `findCurrent` of the domain says the same. Decides by the moment and not by `set_aside`, which the
 * next write or sweep brings up to date. As part of an OR it stays a filter, which leaves vector indexes in use.
 */
export function isCurrentAt(at: Date, facts: 'facts' | 'past_facts', withUpcoming = false): Prisma.Sql {
  const orUpcoming = withUpcoming ? Prisma.sql`OR m.valid_from > ${at}::timestamptz` : Prisma.empty;
  const others = (isAside: string): Prisma.Sql => Prisma.sql`EXISTS (
    SELECT FROM ${Prisma.raw(facts)} o
    WHERE o.tenant_id = m.tenant_id AND o.scope = m.scope AND o.subject_key = m.subject_key
      AND o.predicate_key = m.predicate_key AND o.value_key = m.value_key AND o.kind = 'state'
      AND o.validity IN ('active', 'fading') AND ${Prisma.raw(isAside)} AND o.id <> m.id AND ${holdsAt('o', at)}
      AND ${saidLast('o')} > ${saidLast('m')})`;
  // Two subqueries: each has a partial index.
  return Prisma.sql`(m.kind = 'event' ${orUpcoming} OR (${holdsAt('m', at)} AND NOT ${others('o.set_aside')}
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

/**
 * Returns the condition that state fact `m` held at a date, by what is known of it: it had begun and not ended, and of the
 * facts of its key that held then it was said last. Superseded facts are among them, and forgotten ones are not.
 */
export function heldAt(at: Date, facts: 'facts' | 'past_facts'): Prisma.Sql {
  const held = (fact: 'm' | 'o'): Prisma.Sql => {
    const f = Prisma.raw(fact);
    return Prisma.sql`(coalesce(${f}.valid_from, least(${f}.observed_at, ${f}.created_at)) <= ${at}::timestamptz
      AND (${f}.valid_to IS NULL OR ${f}.valid_to > ${at}::timestamptz) AND (${f}.validity IN ('active', 'fading')
        OR (${f}.validity IN ('superseded', 'expired') AND ${f}.valid_to IS NOT NULL)))`;
  };
  return Prisma.sql`(m.kind = 'state' AND ${held('m')} AND NOT EXISTS (
    SELECT FROM ${Prisma.raw(facts)} o
    WHERE o.tenant_id = m.tenant_id AND o.scope = m.scope AND o.subject_key = m.subject_key
      AND o.predicate_key = m.predicate_key AND o.value_key = m.value_key AND o.kind = 'state' AND o.id <> m.id
      AND ${held('o')} AND ${saidLast('o')} > ${saidLast('m')}))`;
}
