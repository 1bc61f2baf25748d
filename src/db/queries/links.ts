import { Prisma, type MemoryLink } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { announceEvents } from '../events/event-signal.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { insertEventsFrom, type EventRow } from './events.ts';

/** Inserts a link and its event. Returns false, and records nothing, when it is there already. */
export async function insertLink(transaction: Transaction, link: MemoryLink, event: EventRow): Promise<boolean> {
  return changeLink(
    transaction,
    Prisma.sql`
      INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, spans, created_at)
      VALUES (${transaction.tenantId}, ${link.sourceType}, ${link.sourceId}::uuid, ${link.targetType},
        ${link.targetId}::uuid, ${link.relation}, ${JSON.stringify(link.spans)}::jsonb, ${link.createdAt}::timestamptz)
      ON CONFLICT DO NOTHING RETURNING 1`,
    event,
  );
}

/** Deletes a link and inserts its event. Returns false, and records nothing, when it is not there any more. */
export async function deleteLink(transaction: Transaction, link: MemoryLink, event: EventRow): Promise<boolean> {
  return changeLink(
    transaction,
    Prisma.sql`
      DELETE FROM memory_links
      WHERE tenant_id = ${transaction.tenantId} AND source_type = ${link.sourceType} AND source_id = ${link.sourceId}::uuid
        AND target_type = ${link.targetType} AND target_id = ${link.targetId}::uuid AND relation = ${link.relation}
      RETURNING 1`,
    event,
  );
}

async function changeLink(transaction: Transaction, change: Prisma.Sql, event: EventRow): Promise<boolean> {
  announceEvents(transaction);
  const count = await transaction.$executeRaw`
    WITH changed AS (${change}), described AS (SELECT ${event.entityId}::text AS id, '{}'::jsonb AS payload FROM changed)
    ${insertEventsFrom([event], 'described')}`;
  return count > 0;
}

export const linkDirections = ['outbound', 'inbound', 'both'] as const;
export type LinkDirection = (typeof linkDirections)[number];

export interface LinksChoice {
  direction: LinkDirection;
  /** Any, when none is named. */
  relations: readonly string[] | null;
  /** Of each end. */
  limit: number;
}

/** A link as seen from one of its ends. */
export interface LinkRow {
  endType: MemoryType;
  endId: string;
  direction: 'outbound' | 'inbound';
  sourceType: MemoryType;
  sourceId: string;
  targetType: MemoryType;
  targetId: string;
  relation: string;
  createdAt: Date;
}

/** Lists the links of several memories, newest first, at most `limit` of each. */
export async function listLinks(
  client: TenantClient,
  ends: readonly { type: MemoryType; id: string }[],
  { direction, relations, limit }: LinksChoice,
): Promise<LinkRow[]> {
  const sides = direction === 'both' ? (['outbound', 'inbound'] as const) : [direction];
  const parts = sides.map((side) => selectSide(client.tenantId, side, relations ?? []));
  return client.$queryRaw<LinkRow[]>`
    WITH ends AS (
      SELECT type, id FROM unnest(${ends.map(({ type }) => type)}::text[], ${ends.map(({ id }) => id)}::uuid[]) AS e (type, id)
    ), links AS (${Prisma.join(parts, ' UNION ALL ')}), ranked AS (
      SELECT links.*, row_number() OVER (
        PARTITION BY end_type, end_id ORDER BY created_at DESC, relation, source_id, target_id
      ) AS rank FROM links
    )
    SELECT end_type AS "endType", end_id::text AS "endId", direction, source_type AS "sourceType",
      source_id::text AS "sourceId", target_type AS "targetType", target_id::text AS "targetId", relation,
      created_at AS "createdAt"
    FROM ranked WHERE rank <= ${limit} ORDER BY end_type, end_id, rank`;
}

function selectSide(tenantId: string, side: 'outbound' | 'inbound', relations: readonly string[]): Prisma.Sql {
  const own = Prisma.raw(side === 'outbound' ? 'source' : 'target');
  const only = relations.length === 0 ? Prisma.empty : Prisma.sql`AND l.relation = ANY(${relations})`;
  return Prisma.sql`
    SELECT e.type AS end_type, e.id AS end_id, ${side} AS direction, l.source_type, l.source_id, l.target_type, l.target_id,
      l.relation, l.created_at
    FROM ends e JOIN memory_links l
      ON l.tenant_id = ${tenantId} AND l.${own}_type = e.type AND l.${own}_id = e.id ${only}`;
}

/** Lists the latest facts or rules that were derived from each episode, be it from several together. */
export async function listLearnedIds(
  client: TenantClient,
  type: 'fact' | 'rule',
  episodeIds: readonly string[],
  limit: number,
): Promise<{ owner: string; id: string }[]> {
  return client.$queryRaw<{ owner: string; id: string }[]>`
    SELECT owner, id FROM (
      SELECT l.target_id::text AS owner, m.id::text AS id,
        row_number() OVER (PARTITION BY l.target_id ORDER BY m.created_at DESC, m.id DESC) AS rank
      FROM memory_links l
      JOIN ${Prisma.raw(memoryTables[type])} m ON m.tenant_id = l.tenant_id AND m.id = l.source_id
      WHERE l.tenant_id = ${client.tenantId} AND l.target_type = 'episode' AND l.target_id = ANY (${episodeIds}::uuid[])
        AND l.source_type = ${type} AND l.relation = 'derived_from'
    ) ranked
    WHERE rank <= ${limit} ORDER BY owner, rank`;
}
