import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import {
  findDue,
  insertEventsFrom,
  readDuePage,
  skipLocked,
  type Batch,
  type ChangedMemory,
  type DuePage,
} from './change-memories.ts';

export interface OldEpisodesQuery {
  at: Date;
  /** Pending episodes that expired up to this moment are given up. */
  graceEnd: Date;
  /** Episodes stored up to this moment are removed even while pending; null for none. */
  keptSince: Date | null;
  /** How many episodes one butler, and the tenant, may have. */
  perButler: number;
  perTenant: number;
}

/** Finds episodes that are past their retention. */
export async function findExpiredEpisodes(
  client: TenantClient,
  query: OldEpisodesQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  const due = isExpired(client.tenantId, query);
  return findDue(client, { type: 'episode', due, outcome: 'expired' }, after, limit);
}

/**
 * Finds consolidated episodes beyond the capacity of a butler, the least recently referenced or shown first, and then
 * beyond that of the tenant, the oldest first. Each page ranks anew: what was removed before makes the surplus smaller.
 */
export async function findSurplusEpisodes(
  client: TenantClient,
  query: OldEpisodesQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  const { tenantId } = client;
  const isRemovable = isConsolidated(tenantId, query);
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, 'evicted' AS outcome FROM (
      SELECT m.*, row_number() OVER (ORDER BY m.goes, m.is_removable DESC, m.created_at, m.id) AS place,
        count(*) FILTER (WHERE NOT m.goes) OVER () AS total
      FROM (
        SELECT m.id, m.created_at, m.is_removable, m.is_removable AND m.total - m.place >= ${query.perButler} AS goes
        FROM (
          SELECT m.id, m.created_at, ${isRemovable} AS is_removable, count(*) OVER (PARTITION BY m.butler) AS total,
            row_number() OVER (PARTITION BY m.butler ORDER BY ${isRemovable} DESC,
              greatest(coalesce(m.last_referenced_at, m.created_at), m.last_shown_at), m.id) AS place
          FROM episodes m WHERE m.tenant_id = ${tenantId} AND NOT ${isExpired(tenantId, query)}
        ) m
      ) m
    ) m
    WHERE (m.goes OR (m.is_removable AND m.total - m.place >= ${query.perTenant})) AND m.id > ${after}::uuid
    ORDER BY m.id LIMIT ${limit}`,
  );
}

const eventTypes = { expired: 'episode.expired', capacity: 'episode.evicted' };

/**
 * Deletes episodes, and writes the tombstone and the event of each first: the database refuses the deletion of an episode
 * without a tombstone. Neither keeps any of the content, or the deletion would make one more copy of it.
 */
export async function deleteEpisodes(
  transaction: Transaction,
  query: OldEpisodesQuery,
  { ids, wait, origin, reason }: Batch & { reason: keyof typeof eventTypes },
): Promise<ChangedMemory[]> {
  const { tenantId } = transaction;
  const due = reason === 'expired' ? isExpired(tenantId, query) : isConsolidated(tenantId, query);
  const buried = await transaction.$queryRaw<ChangedMemory[]>`
    WITH locked AS (
      SELECT m.id, m.butler, m.session_id, m.created_at, ${eventTypes[reason]}::text AS event_type,
        jsonb_build_object('before', jsonb_build_object('tenant_id', m.tenant_id, 'id', m.id, 'butler', m.butler,
          'session_id', m.session_id, 'consolidation_status', m.consolidation_status, 'created_at', m.created_at,
          'expires_at', m.expires_at, 'forgotten_at', m.forgotten_at, 'version', m.version), 'after', NULL) AS payload
      FROM episodes m
      WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${due}
      ORDER BY m.id FOR UPDATE OF m ${skipLocked(wait)}
    ), buried AS (
      INSERT INTO episode_tombstones (tenant_id, id, butler, session_id, reason, created_at, deleted_at)
      SELECT ${tenantId}, id, butler, session_id, ${reason}, created_at, ${origin.at}::timestamptz FROM locked
      ON CONFLICT (tenant_id, id) DO NOTHING
    )
    ${insertEventsFrom('locked', 'episode', tenantId, origin)}`;
  const buriedIds = buried.map(({ id }) => id);
  await transaction.$executeRaw`
    DELETE FROM episodes WHERE tenant_id = ${tenantId} AND id = ANY (${buriedIds}::uuid[])`;
  return buried;
}

/** A run may finish the episodes that it has leased, and pending ones have a grace period. */
function isExpired(tenantId: string, { at, graceEnd, keptSince }: OldEpisodesQuery): Prisma.Sql {
  const isKeptLongEnough = keptSince === null ? Prisma.empty : Prisma.sql`OR m.created_at <= ${keptSince}::timestamptz`;
  return Prisma.sql`(NOT ${isLeased(tenantId, at)} AND (m.expires_at <= ${at}::timestamptz AND (
    m.consolidation_status <> 'pending' OR m.forgotten_at IS NOT NULL OR m.expires_at <= ${graceEnd}::timestamptz)
    ${isKeptLongEnough}))`;
}

/** Capacity never evicts an episode before it is consolidated. */
function isConsolidated(tenantId: string, { at }: OldEpisodesQuery): Prisma.Sql {
  return Prisma.sql`(m.consolidation_status = 'consolidated' AND NOT ${isLeased(tenantId, at)})`;
}

/** An episode `m` belongs to its run while the lease lasts. */
export function isLeased(tenantId: string, at: Date): Prisma.Sql {
  return Prisma.sql`(m.id IN (
    SELECT unnest(r.episode_ids) FROM consolidation_runs r
    WHERE r.tenant_id = ${tenantId} AND r.status = 'running' AND r.lease_expires_at > ${at}::timestamptz))`;
}
