import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';

export interface ForecastQuery {
  /** Only these scopes; null for all. */
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

/** Lists live facts and rules in the order in which they fade. */
export async function listFading(
  client: TenantClient,
  query: ForecastQuery,
  { limit, after, before, inverted }: ForecastPage,
): Promise<ForecastRow[]> {
  const direction = Prisma.raw(inverted ? 'DESC' : 'ASC');
  return client.$queryRaw`
    SELECT f.type, f.id::text, f.fades_at AS "fadesAt", ${momentBelow('f', query.expiry)} AS "expiresAt"
    FROM (${fadingUntil(client.tenantId, query)}) f
    WHERE ${beyond(after, '>')} AND ${beyond(before, '<')}
    ORDER BY f.fades_at ${direction}, f.id ${direction} LIMIT ${limit}`;
}

export async function countFading(client: TenantClient, query: ForecastQuery): Promise<number> {
  const [row] = await client.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM (${fadingUntil(client.tenantId, query)}) f`;
  return row.count;
}

function fadingUntil(tenantId: string, query: ForecastQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT * FROM (
      SELECT m.*, ${momentBelow('m', query.retrieval)} AS fades_at
      FROM (${selectDecaying(tenantId, query, 'fact')} UNION ALL ${selectDecaying(tenantId, query, 'rule')}) m
    ) m
    WHERE m.fades_at <= ${query.until}::timestamptz`;
}

/** Selects the memories that the decay sweep looks at. A decay rate below 1e-6 takes more than a lifetime. */
function selectDecaying(tenantId: string, { scopes }: ForecastQuery, type: 'fact' | 'rule'): Prisma.Sql {
  const isSwept = type === 'fact' ? '' : `AND maturity <> 'anti_pattern' AND disabled_at IS NULL`;
  return Prisma.sql`
    SELECT ${type}::text AS type, id, confidence, decay_rate, coalesce(last_confirmed_at, created_at) AS since
    FROM ${Prisma.raw(`${type}s`)}
    WHERE tenant_id = ${tenantId} AND validity IN ('active', 'fading') AND decay_rate > 1e-6 ${Prisma.raw(isSwept)}
      ${scopes === null ? Prisma.empty : Prisma.sql`AND scope = ANY (${scopes}::text[])`}`;
}

/**
 * Computes the first millisecond at which the effective confidence is below a threshold: the formula of
 * effectiveConfidenceAt, solved for the time.
 */
function momentBelow(alias: string, threshold: number): Prisma.Sql {
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
