import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from '../tables.ts';
import { heldAt, isCurrentAt } from './current-facts.ts';
import { effectiveConfidenceAt } from './effective-confidence.ts';

/** Which memories are wanted, with nothing left open: `completeFilter` makes it. Null means any. */
export interface MemoryFilter {
  tenantId: string;
  /** The moment that expiry and decay are measured at. */
  at: Date;
  /** Whether memories are read as they were at that moment, instead of as they are. */
  isPast: boolean;
  types: readonly MemoryType[];
  /** Episodes of this butler. */
  visibleButler: string | null;
  /** Facts and rules of these scopes. */
  visibleScopes: readonly string[] | null;
  /** Any of these. An episode that is there counts as active. */
  validity: readonly string[];
  /** Whether only facts come that are the current ones of their keys at that moment. */
  onlyCurrent?: boolean;
  /** Whether facts come, too, whose time has yet to come. */
  withUpcoming?: boolean;
  /** Only state facts that held at this date, by what is known: whether they are live now does not matter. */
  validAt?: Date | null;
  /** Whether disabled rules are among them. */
  withDisabled: boolean;
  generation: readonly string[] | null;
  permanence: readonly string[] | null;
  maturity: readonly string[] | null;
  consolidationStatus: readonly string[] | null;
  sessionId: string | null;
  kind: string | null;
  subject: string | null;
  /** In the form of its key. */
  predicate: string | null;
  /** The butler that observed or learned it. */
  butler: string | null;
  /** All of these. */
  tags: readonly string[];
  /** When it happened (observed, or else created): at or after `from`, and before `to`. */
  from: Date | null;
  to: Date | null;
  /** Effective confidence of facts and rules: at least `minConfidence`, and below `maxConfidence`. */
  minConfidence: number;
  maxConfidence: number | null;
  minImportance: number | null;
}

/** The fields that narrow a filter beyond what a caller may see. */
export const narrowingFields = [
  'generation',
  'permanence',
  'maturity',
  'consolidationStatus',
  'sessionId',
  'kind',
  'subject',
  'predicate',
  'butler',
  'from',
  'to',
  'maxConfidence',
  'minImportance',
] as const satisfies (keyof MemoryFilter)[];

/** Whether the filter narrows beyond what a caller may see: its rows may be few among many. */
export function isNarrow(filter: MemoryFilter): boolean {
  return filter.tags.length > 0 || narrowingFields.some((name) => filter[name] !== null);
}

/**
 * Returns the conditions on row `m` of the type's table, or null when no row of that type can meet them: a condition on
 * what a type does not have excludes the type. Forgotten and expired episodes never pass.
 */
export function whereMemory(type: MemoryType, filter: MemoryFilter): Prisma.Sql | null {
  if (!filter.types.includes(type) || foreignFields[type].some((name) => filter[name] !== null)) return null;
  const own = { episode: whereEpisode, fact: whereFact, rule: whereRule }[type](filter);
  if (own === null) return null;
  return Prisma.join([Prisma.sql`m.tenant_id = ${filter.tenantId}`, ...own, ...whereAny(type, filter)], ' AND ');
}

/** The fields that a type does not have. */
const foreignFields: Record<MemoryType, readonly (keyof MemoryFilter)[]> = {
  episode: ['permanence', 'maturity', 'kind', 'subject', 'predicate', 'maxConfidence'],
  fact: ['maturity', 'consolidationStatus', 'sessionId'],
  rule: ['kind', 'subject', 'predicate', 'consolidationStatus', 'sessionId'],
};

function whereEpisode(filter: MemoryFilter): Prisma.Sql[] | null {
  if (!filter.validity.includes('active')) return null;
  if (filter.generation !== null && !filter.generation.includes('eden')) return null;
  return [
    Prisma.sql`m.forgotten_at IS NULL AND m.expires_at > ${filter.at}::timestamptz`,
    ...when(filter.visibleButler, (name) => Prisma.sql`m.butler = ${name}`),
    ...when(filter.butler, (name) => Prisma.sql`m.butler = ${name}`),
    ...when(filter.sessionId, (id) => Prisma.sql`m.session_id = ${id}::uuid`),
    ...when(filter.consolidationStatus, (values) => Prisma.sql`m.consolidation_status = ANY (${[...values]}::text[])`),
  ];
}

function whereFact(filter: MemoryFilter): Prisma.Sql[] {
  return [
    ...whereInTime(filter),
    ...when(filter.kind, (kind) => Prisma.sql`m.kind = ${kind}`),
    ...when(filter.subject, (subject) => Prisma.sql`m.subject_key = memory_key(${subject})`),
    ...when(filter.predicate, (key) => Prisma.sql`m.predicate_key = ${key}`),
    ...when(filter.generation, (wanted) => inGeneration(wanted, `m.permanence IN ('permanent', 'stable')`)),
  ];
}

/** A fact that is history has no confidence to speak of: its decay says how sure it is to hold now. */
function whereInTime(filter: MemoryFilter): Prisma.Sql[] {
  const table = filter.isPast ? 'past_facts' : 'facts';
  const { at, validAt = null, onlyCurrent = false, withUpcoming } = filter;
  if (validAt !== null) return [...(onlyCurrent ? whereSeen(filter) : whereLearned(filter)), heldAt(validAt, table)];
  return [...whereLearned(filter), ...(onlyCurrent ? [isCurrentAt(at, table, withUpcoming)] : [])];
}

function whereRule(filter: MemoryFilter): Prisma.Sql[] {
  return [
    ...(filter.withDisabled ? [] : [Prisma.sql`m.disabled_at IS NULL`]),
    ...whereLearned(filter),
    ...when(filter.maturity, (maturities) => Prisma.sql`m.maturity = ANY (${[...maturities]}::text[])`),
    ...when(filter.generation, (wanted) => inGeneration(wanted, `m.maturity = 'proven'`)),
  ];
}

/** The conditions of facts and rules alike. */
function whereLearned(filter: MemoryFilter): Prisma.Sql[] {
  const confidence = effectiveConfidenceAt(filter.at, 'm');
  return [
    Prisma.sql`m.validity = ANY (${[...filter.validity]}::text[])`,
    ...whereSeen(filter),
    ...(filter.minConfidence > 0 ? [Prisma.sql`${confidence} >= ${filter.minConfidence}`] : []),
    ...when(filter.maxConfidence, (most) => Prisma.sql`${confidence} < ${most}`),
  ];
}

function whereSeen(filter: MemoryFilter): Prisma.Sql[] {
  return [
    ...when(filter.visibleScopes, (scopes) => Prisma.sql`m.scope = ANY (${[...scopes]}::text[])`),
    ...when(filter.permanence, (permanences) => Prisma.sql`m.permanence = ANY (${[...permanences]}::text[])`),
    ...when(filter.butler, (name) => Prisma.sql`m.source_butler = ${name}`),
  ];
}

function whereAny(type: MemoryType, filter: MemoryFilter): Prisma.Sql[] {
  const happened = Prisma.raw(type === 'rule' ? 'm.created_at' : 'coalesce(m.observed_at, m.created_at)');
  return [
    ...when(filter.from, (from) => Prisma.sql`${happened} >= ${from}::timestamptz`),
    ...when(filter.to, (to) => Prisma.sql`${happened} < ${to}::timestamptz`),
    ...when(filter.minImportance, (least) => Prisma.sql`m.importance >= ${least}`),
    ...(filter.tags.length === 0 ? [] : [Prisma.sql`m.tags @> ${JSON.stringify(filter.tags)}::jsonb`]),
  ];
}

/** As `generationOf` says it for a fact or rule; a test compares the two. */
function inGeneration(wanted: readonly string[], isLong: string): Prisma.Sql {
  const [mid, long] = [wanted.includes('mid'), wanted.includes('long')];
  if (mid === long) return Prisma.raw(mid ? 'true' : 'false');
  return Prisma.raw(long ? isLong : `NOT (${isLong})`);
}

function when<T>(value: T | null, condition: (value: T) => Prisma.Sql): Prisma.Sql[] {
  return value === null ? [] : [condition(value)];
}
