import { Prisma } from '../../generated/prisma/client.ts';

export interface NewRun {
  tenantId: string;
  id: string;
  butler: string;
  engine: string;
  worker: string;
  leaseExpiresAt: Date;
  startedAt: Date;
}

/** Inserts nothing if the butler has a run under way: whoever is about to insert another waits here for the first. */
export function insertRun(run: NewRun): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO consolidation_runs (tenant_id, id, butler, engine, status, worker, lease_expires_at, started_at)
    VALUES (${run.tenantId}, ${run.id}::uuid, ${run.butler}, ${run.engine}, 'running', ${run.worker},
      ${run.leaseExpiresAt}::timestamptz, ${run.startedAt}::timestamptz)
    ON CONFLICT (tenant_id, butler) WHERE status = 'running' DO NOTHING`;
}

/** The run has these from now on. Gives the run as events keep it. */
export function giveEpisodesToRun(tenantId: string, id: string, episodeIds: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    UPDATE consolidation_runs r SET episode_ids = ${episodeIds}::uuid[], episode_count = ${episodeIds.length}
    WHERE r.tenant_id = ${tenantId} AND r.id = ${id}::uuid
    RETURNING to_jsonb(r) AS snapshot`;
}
