import { Prisma } from '../../generated/prisma/client.ts';
import { pageOfDue } from './page-of-due.ts';

export interface PastEpisodesQuery {
  tenantId: string;
  at: Date;
  /** Episodes that wait to be consolidated and expired up to this moment are given up. */
  graceEnd: Date;
  /** Those stored up to this moment go whatever they wait for; null where nothing says so. */
  keptSince: Date | null;
}

/** The next episodes by id that are past their time. */
export function findPastEpisodes(query: PastEpisodesQuery, after: string, limit: number): Prisma.Sql {
  return pageOfDue(Prisma.sql`
    SELECT m.id, 'expired' AS outcome FROM episodes m
    WHERE m.tenant_id = ${query.tenantId} AND m.id > ${after}::uuid AND ${isPast(query)} ORDER BY m.id LIMIT ${limit}`);
}

/** A consolidation that has an episode may finish with it, and one that is still to come has a while for it. */
export function isPast(query: PastEpisodesQuery): Prisma.Sql {
  const { at, graceEnd, keptSince } = query;
  const isKeptLongEnough = keptSince === null ? Prisma.empty : Prisma.sql`OR m.created_at <= ${keptSince}::timestamptz`;
  return Prisma.sql`(NOT ${isLeased(query)} AND (m.expires_at <= ${at}::timestamptz AND (
    m.consolidation_status <> 'pending' OR m.forgotten_at IS NOT NULL OR m.expires_at <= ${graceEnd}::timestamptz)
    ${isKeptLongEnough}))`;
}

/** An episode `m` is its run's own while the lease of that lasts. */
export function isLeased({ tenantId, at }: { tenantId: string; at: Date }): Prisma.Sql {
  return Prisma.sql`(m.id IN (
    SELECT unnest(r.episode_ids) FROM consolidation_runs r
    WHERE r.tenant_id = ${tenantId} AND r.status = 'running' AND r.lease_expires_at > ${at}::timestamptz))`;
}
