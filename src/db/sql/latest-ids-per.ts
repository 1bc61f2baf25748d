import { Prisma } from '../../generated/prisma/client.ts';

export interface LatestIdsQuery {
  tenantId: string;
  table: 'facts' | 'rules' | 'rule_applications';
  /** The column that names whom a row belongs to. */
  owner: 'source_episode_id' | 'rule_id';
  owners: readonly string[];
  time: 'created_at' | 'applied_at';
  /** A further condition, in SQL. */
  only?: 'retired_by_event_id IS NULL';
  limit: number;
}

/** The ids of the latest rows of several owners, at most `limit` of each. */
export function latestIdsPer({ tenantId, table, owner, owners, time, only, limit }: LatestIdsQuery): Prisma.Sql {
  const column = Prisma.raw(owner);
  return Prisma.sql`
    SELECT owner, id FROM (
      SELECT ${column}::text AS owner, id::text AS id,
        row_number() OVER (PARTITION BY ${column} ORDER BY ${Prisma.raw(time)} DESC, id DESC) AS rank
      FROM ${Prisma.raw(table)}
      WHERE tenant_id = ${tenantId} AND ${column} = ANY(${owners}::uuid[]) AND ${Prisma.raw(only ?? 'true')}
    ) ranked
    WHERE rank <= ${limit} ORDER BY owner, rank`;
}
