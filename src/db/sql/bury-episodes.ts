import { Prisma } from '../../generated/prisma/client.ts';
import { insertEventsOf, type EventOrigin } from './event-rows.ts';

export interface Burial {
  ids: readonly string[];
  origin: EventOrigin;
  wait: boolean;
  /** What an episode `m` must still meet, now that it is locked. */
  due: Prisma.Sql;
  reason: 'expired' | 'capacity';
}

const eventTypes = { expired: 'episode.expired', capacity: 'episode.evicted' };

/**
 * Writes the tombstones and events of episodes that are to be deleted next, and tells which. Neither has anything of what
 * they said, or the deletion would have made one more copy of it.
 */
export function buryEpisodes({ ids, origin, wait, due, reason }: Burial): Prisma.Sql {
  return Prisma.sql`
    WITH locked AS (
      SELECT m.id, m.butler, m.session_id, m.created_at, ${eventTypes[reason]}::text AS event_type,
        jsonb_build_object('before', jsonb_build_object('tenant_id', m.tenant_id, 'id', m.id, 'butler', m.butler,
          'session_id', m.session_id, 'consolidation_status', m.consolidation_status, 'created_at', m.created_at,
          'expires_at', m.expires_at, 'forgotten_at', m.forgotten_at, 'version', m.version), 'after', NULL) AS payload
      FROM episodes m
      WHERE m.tenant_id = ${origin.tenantId} AND m.id = ANY (${ids}::uuid[]) AND ${due}
      ORDER BY m.id FOR UPDATE OF m ${Prisma.raw(wait ? '' : 'SKIP LOCKED')}
    ), buried AS (
      INSERT INTO episode_tombstones (tenant_id, id, butler, session_id, reason, created_at, deleted_at)
      SELECT ${origin.tenantId}, id, butler, session_id, ${reason}, created_at, ${origin.at}::timestamptz FROM locked
      ON CONFLICT (tenant_id, id) DO NOTHING
    )
    ${insertEventsOf('episode', origin, 'locked')}`;
}
