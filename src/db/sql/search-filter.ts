import { Prisma } from '../../generated/prisma/client.ts';
import { effectiveConfidenceAt } from './effective-confidence.ts';
import type { MemoryType } from '../tables.ts';

/** What a search may return, with nothing left open. Null means any. */
export interface RowFilter {
  tenantId: string;
  /** The moment that expiry and decay are measured at. */
  at: Date;
  /** Whether memories are searched as they were at that moment, instead of as they are. */
  isPast: boolean;
  types: readonly MemoryType[];
  /** Whose episodes. */
  visibleButler: string | null;
  /** Which scopes of facts and rules. */
  visibleScopes: readonly string[] | null;
  validity: readonly string[];
  generation: readonly string[] | null;
  permanence: readonly string[] | null;
  maturity: readonly string[] | null;
  subject: string | null;
  predicate: string | null;
  butler: string | null;
  tags: readonly string[];
  from: Date | null;
  to: Date | null;
  minConfidence: number;
}

/** The conditions on a row `m` of the type's table, or null when no row of that type can meet them. */
export function rowConditions(type: MemoryType, filter: RowFilter): Prisma.Sql | null {
  if (!filter.types.includes(type)) return null;
  const own = { episode: episodeConditions, fact: factConditions, rule: ruleConditions }[type](filter);
  if (own === null) return null;
  return Prisma.join(
    [Prisma.sql`m.tenant_id = ${filter.tenantId}`, ...own, ...commonConditions(type, filter)],
    ' AND ',
  );
}

/** Whether the filter narrows more than who may see what: its rows may be few among many. */
export function isNarrow(filter: RowFilter): boolean {
  const { generation, permanence, maturity, subject, predicate, butler, tags, from, to } = filter;
  const given = [generation, permanence, maturity, subject, predicate, butler, from, to];
  return tags.length > 0 || given.some((value) => value !== null);
}

function episodeConditions(filter: RowFilter): Prisma.Sql[] | null {
  const hasForeign = filter.permanence ?? filter.maturity ?? filter.subject ?? filter.predicate;
  if (hasForeign !== null || !filter.validity.includes('active')) return null;
  if (filter.generation !== null && !filter.generation.includes('eden')) return null;
  return [
    Prisma.sql`m.forgotten_at IS NULL AND m.expires_at > ${filter.at}::timestamptz`,
    ...when(filter.visibleButler, (name) => Prisma.sql`m.butler = ${name}`),
    ...when(filter.butler, (name) => Prisma.sql`m.butler = ${name}`),
  ];
}

function factConditions(filter: RowFilter): Prisma.Sql[] | null {
  if (filter.maturity !== null) return null;
  return [
    ...decayingConditions(filter),
    ...when(filter.subject, (subject) => Prisma.sql`m.subject_key = memory_key(${subject})`),
    ...when(filter.predicate, (predicate) => Prisma.sql`m.predicate_key = memory_key(${predicate})`),
    ...when(filter.generation, (generations) => isOneOf(generations.map((name) => factGenerations[name] ?? never))),
  ];
}

function ruleConditions(filter: RowFilter): Prisma.Sql[] | null {
  if (filter.subject !== null || filter.predicate !== null) return null;
  // A forgotten rule is retracted: its validity decides where retracted ones are asked for.
  const isThere = filter.validity.includes('retracted') ? '' : 'm.forgotten_at IS NULL AND ';
  return [
    Prisma.raw(`${isThere}m.disabled_at IS NULL`),
    ...decayingConditions(filter),
    ...when(filter.maturity, (maturities) => Prisma.sql`m.maturity = ANY (${[...maturities]}::text[])`),
    ...when(filter.generation, (generations) => isOneOf(generations.map((name) => ruleGenerations[name] ?? never))),
  ];
}

const never = Prisma.sql`false`;

/** As `generationOf` says it; a test compares the two. */
const factGenerations: Record<string, Prisma.Sql> = {
  mid: Prisma.sql`m.permanence NOT IN ('permanent', 'stable')`,
  long: Prisma.sql`m.permanence IN ('permanent', 'stable')`,
};
const ruleGenerations: Record<string, Prisma.Sql> = {
  mid: Prisma.sql`m.maturity <> 'proven'`,
  long: Prisma.sql`m.maturity = 'proven'`,
};

function decayingConditions(filter: RowFilter): Prisma.Sql[] {
  return [
    Prisma.sql`m.validity = ANY (${[...filter.validity]}::text[])`,
    ...when(filter.visibleScopes, (scopes) => Prisma.sql`m.scope = ANY (${[...scopes]}::text[])`),
    ...when(filter.permanence, (permanences) => Prisma.sql`m.permanence = ANY (${[...permanences]}::text[])`),
    ...when(filter.butler, (name) => Prisma.sql`m.source_butler = ${name}`),
    ...when(filter.minConfidence > 0 ? filter.minConfidence : null, (least) => {
      return Prisma.sql`${effectiveConfidenceAt(filter.at, 'm')} >= ${least}`;
    }),
  ];
}

function commonConditions(type: MemoryType, filter: RowFilter): Prisma.Sql[] {
  const happened = type === 'rule' ? Prisma.sql`m.created_at` : Prisma.sql`coalesce(m.observed_at, m.created_at)`;
  return [
    ...when(filter.from, (from) => Prisma.sql`${happened} >= ${from}::timestamptz`),
    ...when(filter.to, (to) => Prisma.sql`${happened} < ${to}::timestamptz`),
    ...(filter.tags.length === 0 ? [] : [Prisma.sql`m.tags @> ${JSON.stringify(filter.tags)}::jsonb`]),
  ];
}

function when<T>(value: T | null, condition: (value: T) => Prisma.Sql): Prisma.Sql[] {
  return value === null ? [] : [condition(value)];
}

function isOneOf(conditions: Prisma.Sql[]): Prisma.Sql {
  return Prisma.sql`(${Prisma.join(conditions.length === 0 ? [never] : conditions, ' OR ')})`;
}
