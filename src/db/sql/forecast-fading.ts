import { Prisma } from '../../generated/prisma/client.ts';

export interface ForecastQuery {
  tenantId: string;
  /** Only of these scopes; null for all. */
  scopes: readonly string[] | null;
  /** Below it a memory fades. */
  retrieval: number;
  /** Below it a memory expires. */
  expiry: number;
  /** Only what fades at this moment or before. */
  until: Date;
}

export interface ForecastPosition {
  fadesAt: Date;
  id: string;
}

export interface ForecastPage {
  limit: number;
  after: ForecastPosition | null;
  before: ForecastPosition | null;
  /** From the end towards the beginning. */
  inverted: boolean;
}

export interface ForecastRow {
  type: 'fact' | 'rule';
  id: string;
  fadesAt: Date;
  /** Null where it never will, or in no year that has four digits. */
  expiresAt: Date | null;
}

/** Live facts and rules in the order in which they fade. */
export function forecastFading(query: ForecastQuery, { limit, after, before, inverted }: ForecastPage): Prisma.Sql {
  const direction = Prisma.raw(inverted ? 'DESC' : 'ASC');
  return Prisma.sql`
    SELECT f.type, f.id::text, f.fades_at AS "fadesAt", ${momentOf('f', query.expiry)} AS "expiresAt"
    FROM (${fadingUntil(query)}) f
    WHERE ${beyond(after, '>')} AND ${beyond(before, '<')}
    ORDER BY f.fades_at ${direction}, f.id ${direction} LIMIT ${limit}`;
}

export function countFading(query: ForecastQuery): Prisma.Sql {
  return Prisma.sql`SELECT count(*)::int AS count FROM (${fadingUntil(query)}) f`;
}

function fadingUntil(query: ForecastQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT * FROM (
      SELECT m.*, ${momentOf('m', query.retrieval)} AS fades_at
      FROM (${decaying(query, 'fact')} UNION ALL ${decaying(query, 'rule')}) m
    ) m
    WHERE m.fades_at <= ${query.until}::timestamptz`;
}

/** Those that the decay sweep will come to. What decays by less than that will not in our time. */
function decaying({ tenantId, scopes }: ForecastQuery, type: 'fact' | 'rule'): Prisma.Sql {
  const isSwept =
    type === 'fact' ? '' : `AND maturity <> 'anti_pattern' AND disabled_at IS NULL AND forgotten_at IS NULL`;
  return Prisma.sql`
    SELECT ${type}::text AS type, id, confidence, decay_rate, coalesce(last_confirmed_at, created_at) AS since
    FROM ${Prisma.raw(`${type}s`)}
    WHERE tenant_id = ${tenantId} AND validity IN ('active', 'fading') AND decay_rate > 1e-6 ${Prisma.raw(isSwept)}
      ${scopes === null ? Prisma.empty : Prisma.sql`AND scope = ANY (${scopes}::text[])`}`;
}

/**
 * The first millisecond at which the effective confidence is below a threshold: the formula of effectiveConfidenceAt, solved
 * for the time. At the threshold itself it is not below yet.
 */
function momentOf(alias: string, threshold: number): Prisma.Sql {
  const [confidence, rate, since] = ['confidence', 'decay_rate', 'since'].map((name) => Prisma.raw(`${alias}.${name}`));
  if (threshold === 0) return Prisma.raw('NULL::timestamptz');
  const seconds = Prisma.sql`extract(epoch FROM ${since})::float8 + ln(${confidence} / ${threshold}::float8) / ${rate} * 86400`;
  return Prisma.sql`CASE WHEN ${confidence} < ${threshold}::float8 THEN ${since}
    WHEN ${seconds} < 253402300799 THEN to_timestamp((floor((${seconds}) * 1000) + 1) / 1000)::timestamptz(3) END`;
}

function beyond(position: ForecastPosition | null, sign: '<' | '>'): Prisma.Sql {
  if (position === null) return Prisma.raw('true');
  return Prisma.sql`(f.fades_at, f.id) ${Prisma.raw(sign)} (${position.fadesAt}::timestamptz, ${position.id}::uuid)`;
}
