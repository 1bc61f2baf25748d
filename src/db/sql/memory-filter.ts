import { Prisma } from '../../generated/prisma/client.ts';
import { effectiveConfidenceAt } from './effective-confidence.ts';
import type { MemoryType } from '../tables.ts';

/** What a reader may ask of memories. A condition on what a type does not have excludes that type. */
export interface MemoryFilter {
  /** Facts and rules of "global" and this scope, episodes of this butler. */
  scope?: string | null | undefined;
  /** The butler that observed or learned it. */
  butler?: string | null | undefined;
  sessionId?: string | null | undefined;
  validity?: readonly string[] | null | undefined;
  consolidationStatus?: readonly string[] | null | undefined;
  generation?: readonly string[] | null | undefined;
  permanence?: readonly string[] | null | undefined;
  maturity?: readonly string[] | null | undefined;
  kind?: string | null | undefined;
  subject?: string | null | undefined;
  predicate?: string | null | undefined;
  /** All of them. */
  tags?: readonly string[] | null | undefined;
  /** Created at or after, and before. */
  from?: Date | null | undefined;
  to?: Date | null | undefined;
  /** Of the effective confidence, now. */
  minConfidence?: number | null | undefined;
  maxConfidence?: number | null | undefined;
  minImportance?: number | null | undefined;
}

/** Every condition on the rows of one table, unaliased. Forgotten and expired episodes never pass. */
export function whereMemory(type: MemoryType, tenantId: string, filter: MemoryFilter, now: Date): Prisma.Sql {
  return Prisma.join(
    [Prisma.sql`tenant_id = ${tenantId}`, ...ownConditions(type, filter, now), ...common(filter)],
    ' AND ',
  );
}

function common({ tags, from, to, minImportance }: MemoryFilter): Prisma.Sql[] {
  return [
    ...when(tags, (value) => Prisma.sql`tags @> ${JSON.stringify(value)}::jsonb`),
    ...when(from, (value) => Prisma.sql`created_at >= ${value}`),
    ...when(to, (value) => Prisma.sql`created_at < ${value}`),
    ...when(minImportance, (value) => Prisma.sql`importance >= ${value}`),
  ];
}

function ownConditions(type: MemoryType, filter: MemoryFilter, now: Date): Prisma.Sql[] {
  if (type === 'episode') return episodeConditions(filter, now);
  return [...(type === 'fact' ? factConditions(filter) : ruleConditions(filter)), ...learnedConditions(filter, now)];
}

function episodeConditions(filter: MemoryFilter, now: Date): Prisma.Sql[] {
  return [
    Prisma.sql`forgotten_at IS NULL AND expires_at > ${now}`,
    ...when(filter.scope, (value) => Prisma.sql`butler = ${value}`),
    ...when(filter.butler, (value) => Prisma.sql`butler = ${value}`),
    ...when(filter.sessionId, (value) => Prisma.sql`session_id = ${value}::uuid`),
    ...when(filter.consolidationStatus, (value) => Prisma.sql`consolidation_status = ANY(${value})`),
    ...when(filter.generation, (value) => bool(value.includes('eden'))),
    // One that is there counts as active.
    ...when(filter.validity, (value) => bool(value.includes('active'))),
    ...excludedBy(filter.subject, filter.predicate, filter.kind, filter.permanence, filter.maturity),
    ...excludedBy(filter.maxConfidence),
  ];
}

function factConditions(filter: MemoryFilter): Prisma.Sql[] {
  const isLong = Prisma.sql`permanence IN ('stable', 'permanent')`;
  return [
    ...when(filter.subject, (value) => Prisma.sql`subject_key = memory_key(${value})`),
    ...when(filter.predicate, (value) => Prisma.sql`predicate_key = memory_key(${value})`),
    ...when(filter.kind, (value) => Prisma.sql`kind = ${value}`),
    ...when(filter.permanence, (value) => Prisma.sql`permanence = ANY(${value})`),
    ...when(filter.generation, (value) => inGeneration(value, isLong)),
    ...excludedBy(filter.maturity),
  ];
}

function ruleConditions(filter: MemoryFilter): Prisma.Sql[] {
  return [
    ...when(filter.maturity, (value) => Prisma.sql`maturity = ANY(${value})`),
    ...when(filter.generation, (value) => inGeneration(value, Prisma.sql`maturity = 'proven'`)),
    ...excludedBy(filter.subject, filter.predicate, filter.kind, filter.permanence),
  ];
}

/** Of facts and rules alike. */
function learnedConditions(filter: MemoryFilter, now: Date): Prisma.Sql[] {
  return [
    ...when(filter.scope, (value) => Prisma.sql`scope IN ('global', ${value})`),
    ...when(filter.butler, (value) => Prisma.sql`source_butler = ${value}`),
    ...when(filter.validity, (value) => Prisma.sql`validity = ANY(${value})`),
    ...when(filter.minConfidence, (value) => Prisma.sql`${effectiveConfidenceAt(now)} >= ${value}`),
    ...when(filter.maxConfidence, (value) => Prisma.sql`${effectiveConfidenceAt(now)} < ${value}`),
    ...excludedBy(filter.sessionId, filter.consolidationStatus),
  ];
}

function inGeneration(wanted: readonly string[], isLong: Prisma.Sql): Prisma.Sql {
  const [mid, long] = [wanted.includes('mid'), wanted.includes('long')];
  if (mid === long) return bool(mid);
  return long ? isLong : Prisma.sql`NOT ${isLong}`;
}

function when<Value>(value: Value | null | undefined, condition: (value: Value) => Prisma.Sql): Prisma.Sql[] {
  return value === null || value === undefined ? [] : [condition(value)];
}

function excludedBy(...values: unknown[]): Prisma.Sql[] {
  return values.every((value) => value === null || value === undefined) ? [] : [bool(false)];
}

function bool(value: boolean): Prisma.Sql {
  return Prisma.raw(value ? 'true' : 'false');
}
