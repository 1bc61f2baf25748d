import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { whereMemory, type MemoryFilter } from '../sql/memory-filter.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';

/** Pages by number. The past does not change, so pages of past states never shift. */

export interface NumberedPage {
  offset: number;
  limit: number;
}

/** Reads a page of rows, and counts the rows of all pages. The count is right behind the last page too. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the rows of its statement
async function readPage<Row>(
  client: TenantClient,
  rows: Prisma.Sql,
  order: string,
  { offset, limit }: NumberedPage,
): Promise<{ rows: Row[]; total: number }> {
  const by = Prisma.raw(order);
  const found = await client.$queryRaw<(Row & { is_row: true | null; total: number })[]>`
    WITH all_rows AS (${rows})
    SELECT page.*, counted.total FROM (SELECT count(*)::int AS total FROM all_rows) counted
    LEFT JOIN (SELECT *, true AS is_row FROM all_rows ORDER BY ${by} LIMIT ${limit} OFFSET ${offset}) page ON true
    ORDER BY ${by}`;
  return { rows: found.filter(({ is_row: isRow }) => isRow !== null), total: found[0]?.total ?? 0 };
}

export interface StatesQuery {
  type: MemoryType;
  at: Date;
  ids?: string[];
  /** Columns that must have one of these values, as text. */
  equal?: Partial<Record<'validity' | 'scope' | 'butler' | 'maturity' | 'permanence', string[]>>;
  subject?: string;
  predicateKey?: string;
  offset?: number;
  limit?: number;
}

/** Lists the last state of each memory of a type that was recorded up to a moment, in the order of their creation. */
export async function listStatesAt(
  client: TenantClient,
  query: StatesQuery,
): Promise<{ rows: { state: Prisma.JsonObject }[]; total: number }> {
  const { type, at, ids, limit = 1, offset = 0 } = query;
  const only = ids === undefined ? Prisma.empty : Prisma.sql`AND entity_id = ANY(${ids})`;
  const states = Prisma.sql`
    SELECT state FROM (
      SELECT DISTINCT ON (entity_id) payload->'after' AS state FROM memory_events
      WHERE tenant_id = ${client.tenantId} AND entity_type = ${type} AND occurred_at <= ${at} ${only}
      ORDER BY entity_id, sequence DESC
    ) states
    WHERE jsonb_typeof(state) = 'object'
      AND (NOT state ? 'expires_at' OR (state->>'expires_at')::timestamptz > ${at}) ${matchState(query)}`;
  return readPage(client, states, "(state->>'created_at')::timestamptz, state->>'id'", { offset, limit });
}

function matchState({ equal = {}, subject, predicateKey }: StatesQuery): Prisma.Sql {
  const parts = Object.entries(equal).map(([column, values]) => Prisma.sql`AND state->>${column} = ANY(${values})`);
  if (subject !== undefined) parts.push(Prisma.sql`AND memory_key(state->>'subject') = memory_key(${subject})`);
  // States have no keys: a predicate never changes, so that of the row holds for all of them.
  if (predicateKey !== undefined) {
    parts.push(Prisma.sql`AND ${predicateKey} = coalesce((SELECT f.predicate_key FROM facts f
      WHERE f.tenant_id = state->>'tenant_id' AND f.id = (state->>'id')::uuid), memory_key(state->>'predicate'))`);
  }
  return parts.length === 0 ? Prisma.empty : Prisma.join(parts, ' ');
}

export const changeKinds = ['created', 'changed', 'superseded', 'forgotten', 'expired', 'restored', 'removed'] as const;
export type ChangeKind = (typeof changeKinds)[number];

export interface ChangesQuery {
  from: Date;
  to: Date;
  /** Null for all. */
  types: readonly string[] | null;
}

export interface ChangeRow {
  type: MemoryType;
  id: string;
  kind: ChangeKind;
  events: number;
  before: Prisma.JsonObject | null;
  after: Prisma.JsonObject | null;
}

/**
 * Selects what became of each memory between two moments: its state before the first event in between and after the last.
 * Memories that were changed and changed back are left out.
 */
function selectChanges(tenantId: string, { from, to, types }: ChangesQuery): Prisma.Sql {
  return Prisma.sql`
    WITH touched AS (
      SELECT entity_type, entity_id, min(sequence) AS first, max(sequence) AS last, count(*)::int AS events
      FROM memory_events
      WHERE tenant_id = ${tenantId} AND occurred_at > ${from} AND occurred_at <= ${to}
        AND entity_type = ANY(${types ?? memoryTypes})
      GROUP BY entity_type, entity_id
    ), states AS (
      SELECT touched.*, coalesce(p.state, nullif(f.payload->'before', 'null')) AS before,
        nullif(l.payload->'after', 'null') AS after, l.event_type LIKE '%.erased' AS is_erased
      FROM touched
      JOIN memory_events f ON f.tenant_id = ${tenantId} AND f.sequence = touched.first
      JOIN memory_events l ON l.tenant_id = ${tenantId} AND l.sequence = touched.last
      -- The event of a deletion does not say what was deleted; the one before it does.
      LEFT JOIN LATERAL (
        SELECT e.payload->'after' AS state FROM memory_events e
        WHERE f.payload->'after' = 'null' AND e.tenant_id = ${tenantId} AND e.entity_type = touched.entity_type
          AND e.entity_id = touched.entity_id AND e.sequence < touched.first
        ORDER BY e.sequence DESC LIMIT 1
      ) p ON true
    ), changes AS (
      SELECT states.*, CASE
        WHEN after IS NULL THEN 'removed'
        WHEN ${isGone('after')} AND after->>'validity' = 'superseded' THEN 'superseded'
        WHEN ${isGone('after')} AND after->>'validity' = 'expired' THEN 'expired'
        WHEN ${isGone('after')} THEN 'forgotten'
        WHEN before IS NULL THEN 'created'
        WHEN ${isGone('before')} THEN 'restored'
        ELSE 'changed'
      END AS kind
      FROM states WHERE is_erased OR (before - 'version') IS DISTINCT FROM (after - 'version')
    )`;
}

function isGone(state: 'before' | 'after'): Prisma.Sql {
  return Prisma.raw(
    `(coalesce(${state}->>'validity', 'active') NOT IN ('active', 'fading') OR ${state}->>'forgotten_at' IS NOT NULL)`,
  );
}

/** Lists changes, the latest first. */
export async function listChangesBetween(
  client: TenantClient,
  query: ChangesQuery,
  page: NumberedPage,
): Promise<{ rows: ChangeRow[]; total: number }> {
  const rows = Prisma.sql`${selectChanges(client.tenantId, query)}
    SELECT entity_type AS type, entity_id AS id, kind, events, before, after, last FROM changes`;
  return readPage(client, rows, 'last DESC', page);
}

export interface ChangeCount {
  type: MemoryType;
  kind: ChangeKind;
  count: number;
}

export async function countChangesBetween(client: TenantClient, query: ChangesQuery): Promise<ChangeCount[]> {
  return client.$queryRaw`${selectChanges(client.tenantId, query)}
    SELECT entity_type AS type, kind, count(*)::int AS count FROM changes GROUP BY entity_type, kind ORDER BY 1, 2`;
}

export interface TimelineQuery {
  filter: MemoryFilter;
  from: Date | null;
  to: Date | null;
}

/** When something happened or began to hold in the world, if that is known; else when it was stored. */
const moments: Record<MemoryType, string> = {
  episode: 'coalesce(observed_at, created_at)',
  fact: 'coalesce(observed_at, valid_from, created_at)',
  rule: 'created_at',
};

/** Lists memories by when they happened or began to hold, the latest first. */
export async function listTimeline(
  client: TenantClient,
  { filter, from, to }: TimelineQuery,
  page: NumberedPage,
): Promise<{ rows: { type: MemoryType; id: string; at: Date }[]; total: number }> {
  const parts = filter.types.map(
    (type) => Prisma.sql`
      SELECT ${type}::text AS type, id, ${Prisma.raw(moments[type])} AS at FROM ${Prisma.raw(memoryTables[type])} m
      WHERE ${whereMemory(type, filter) ?? Prisma.sql`false`}`,
  );
  const entries = Prisma.sql`
    SELECT type, id::text, at FROM (${Prisma.join(parts, ' UNION ALL ')}) entries
    WHERE (${from}::timestamptz IS NULL OR at >= ${from}) AND (${to}::timestamptz IS NULL OR at < ${to})`;
  return readPage(client, entries, 'at DESC, type, id', page);
}

/** Lists the ids of the latest events of several memories, at most `limit` of each, newest first. */
export async function listLatestEvents(
  client: TenantClient,
  memories: readonly { type: string; id: string }[],
  limit: number,
): Promise<{ type: MemoryType; memoryId: string; eventId: string }[]> {
  return client.$queryRaw`
    SELECT type, entity_id AS "memoryId", id AS "eventId" FROM (
      SELECT e.type, m.entity_id, m.id::text AS id,
        row_number() OVER (PARTITION BY e.type, m.entity_id ORDER BY m.sequence DESC) AS rank
      FROM unnest(${memories.map(({ type }) => type)}::text[], ${memories.map(({ id }) => id)}::text[]) AS e (type, id)
      JOIN memory_events m ON m.tenant_id = ${client.tenantId} AND m.entity_type = e.type AND m.entity_id = e.id
    ) ranked
    WHERE rank <= ${limit} ORDER BY type, entity_id, rank`;
}

/** Lets concurrent undos of one event take turns. An advisory lock, because no role may update an event, hence lock one. */
export async function lockUndo(transaction: Transaction, eventId: string): Promise<void> {
  await transaction.$queryRaw`
    SELECT pg_advisory_xact_lock(
      hashtextextended(jsonb_build_array(${transaction.tenantId}::text, ${eventId}::text)::text, 1))::text`;
}

interface VersionReference {
  type: MemoryType;
  id: string;
  version: number;
}

interface VersionState {
  type: MemoryType;
  id: string;
  state: Prisma.JsonObject;
}

/** Reads memories as they were in a version of each: what the event that led to it kept. */
export async function readVersionStates(
  client: TenantClient,
  references: readonly VersionReference[],
): Promise<VersionState[]> {
  const types = references.map(({ type }) => type);
  const ids = references.map(({ id }) => id);
  const versions = references.map(({ version }) => version);
  return client.$queryRaw`
    SELECT wanted.type, wanted.id, found.state
    FROM unnest(${types}::text[], ${ids}::text[], ${versions}::int[]) AS wanted (type, id, version)
      CROSS JOIN LATERAL (
        SELECT e.payload->'after' AS state FROM memory_events e
        WHERE e.tenant_id = ${client.tenantId} AND e.entity_type = wanted.type AND e.entity_id = wanted.id
          AND (e.payload->'after'->>'version')::int = wanted.version
        ORDER BY e.sequence DESC LIMIT 1
      ) found`;
}
