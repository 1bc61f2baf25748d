import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables } from '../tables.ts';

export interface LearnedFromQuery {
  tenantId: string;
  type: 'fact' | 'rule';
  episodeIds: readonly string[];
  /** Of each episode. */
  limit: number;
}

/** The ids of the latest facts or rules that were derived from each episode, be it from several together. */
export function learnedFrom({ tenantId, type, episodeIds, limit }: LearnedFromQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT owner, id FROM (
      SELECT l.target_id::text AS owner, m.id::text AS id,
        row_number() OVER (PARTITION BY l.target_id ORDER BY m.created_at DESC, m.id DESC) AS rank
      FROM memory_links l
      JOIN ${Prisma.raw(memoryTables[type])} m ON m.tenant_id = l.tenant_id AND m.id = l.source_id
      WHERE l.tenant_id = ${tenantId} AND l.target_type = 'episode' AND l.target_id = ANY (${episodeIds}::uuid[])
        AND l.source_type = ${type} AND l.relation = 'derived_from'
    ) ranked
    WHERE rank <= ${limit} ORDER BY owner, rank`;
}
