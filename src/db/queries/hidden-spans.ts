import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import type { MemoryType } from '../tables.ts';

/** By the id of the forgotten memory, or of the event that forgot a topic. */
type Hidden = Record<string, [number, number][]>;

export interface LastState {
  hidden: Hidden;
  isForgotten: boolean;
}

/** Returns what is hidden of memories by id, also of deleted ones: as their latest events have it. */
export async function listLastStates(client: TenantClient, ids: readonly string[]): Promise<Map<string, LastState>> {
  const rows = await client.$queryRaw<(LastState & { id: string })[]>`
    SELECT DISTINCT ON (entity_id) entity_id AS id, coalesce(payload->'after'->'hidden_spans', '{}') AS hidden,
      coalesce(payload->'after'->>'validity' = 'retracted', false)
        OR payload->'after'->>'forgotten_at' IS NOT NULL AS "isForgotten"
    FROM memory_events
    WHERE tenant_id = ${client.tenantId} AND entity_type IN ('episode', 'fact', 'rule')
      AND entity_id = ANY (${[...ids]}::text[]) AND jsonb_typeof(payload->'after') = 'object'
    ORDER BY entity_id, sequence DESC`;
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

export interface SayingEpisode {
  id: string;
  content: string;
  hiddenSpans: Hidden;
  /** Where it says the memory, by the evidence of what was learned from it. */
  evidence: [number, number][];
  isSource: boolean;
  isForgotten: boolean;
}

export interface SaidMemory {
  type: MemoryType;
  id: string;
  /** The words by which episodes are looked for, besides its sources. */
  text: string;
  language: string;
  /** The butler whose episodes are compared; null for those of all butlers. */
  butler: string | null;
  /** The butler whose episodes the caller may change; null for those of all butlers. */
  owner: string | null;
}

/** More are not compared with what was forgotten. */
const mostEpisodes = 200;

/** Lists the episodes that a memory was learned from, and those that share a word with it, newest first. */
export async function listSayingEpisodes(client: TenantClient, memory: SaidMemory): Promise<SayingEpisode[]> {
  const { tenantId } = client;
  const { type, id, text, language, butler, owner } = memory;
  const ofButler = butler === null ? Prisma.sql`true` : Prisma.sql`e.butler = ${butler}`;
  return client.$queryRaw`
    WITH asked AS (
      SELECT replace(plainto_tsquery(memory_text_search(${language}), ${text})::text, '&', '|')::tsquery AS words
    ), evidence AS (
      SELECT l.target_id AS id, l.spans, true AS is_source FROM memory_links l
      WHERE l.tenant_id = ${tenantId} AND l.source_type = ${type} AND l.source_id = ${id}::uuid
        AND l.relation = 'derived_from' AND l.target_type = 'episode'
      UNION ALL
      SELECT l.source_id, l.spans, true FROM memory_links l
      WHERE l.tenant_id = ${tenantId} AND l.target_type = ${type} AND l.target_id = ${id}::uuid
        AND l.relation = 'supports' AND l.source_type = 'episode'
      UNION ALL
      (SELECT e.id, '[]', false FROM episodes e, asked
      WHERE e.tenant_id = ${tenantId} AND ${ofButler} AND e.search_vector @@ asked.words
      ORDER BY e.created_at DESC, e.id LIMIT ${mostEpisodes})
    )
    SELECT e.id::text, e.content, e.hidden_spans AS "hiddenSpans", bool_or(v.is_source) AS "isSource",
      e.forgotten_at IS NOT NULL AS "isForgotten",
      coalesce(jsonb_agg(part) FILTER (WHERE part IS NOT NULL), '[]') AS evidence
    FROM evidence v JOIN episodes e ON e.tenant_id = ${tenantId} AND e.id = v.id
      AND (${owner}::text IS NULL OR e.butler = ${owner})
    LEFT JOIN LATERAL jsonb_array_elements(v.spans) part ON true
    GROUP BY e.id, e.content, e.hidden_spans, e.forgotten_at, e.created_at ORDER BY e.created_at DESC, e.id`;
}

/** Lists the episodes that share words with a topic and were not forgotten: those that share most first. */
export async function listEpisodesAbout(
  client: TenantClient,
  { text, language, owner, at }: Pick<SaidMemory, 'text' | 'language' | 'owner'> & { at: Date },
): Promise<HidingEpisode[]> {
  return client.$queryRaw`
    WITH asked AS (
      SELECT replace(plainto_tsquery(memory_text_search(${language}), ${text})::text, '&', '|')::tsquery AS words
    )
    SELECT e.id::text, e.content, e.hidden_spans AS "hiddenSpans", false AS "isForgotten" FROM episodes e, asked
    WHERE e.tenant_id = ${client.tenantId} AND e.forgotten_at IS NULL AND e.expires_at > ${at}::timestamptz
      AND (${owner}::text IS NULL OR e.butler = ${owner}) AND e.search_vector @@ asked.words
    ORDER BY ts_rank(e.search_vector, asked.words) DESC, e.created_at DESC, e.id LIMIT ${mostEpisodes}`;
}

export interface HidingEpisode {
  id: string;
  content: string;
  hiddenSpans: Hidden;
  isForgotten: boolean;
}

/** Lists the episodes in which some memories are hidden. */
export async function listHidingEpisodes(client: TenantClient, memoryIds: readonly string[]): Promise<HidingEpisode[]> {
  return client.$queryRaw`
    SELECT id::text, content, hidden_spans AS "hiddenSpans", forgotten_at IS NOT NULL AS "isForgotten" FROM episodes
    WHERE tenant_id = ${client.tenantId} AND hidden_spans <> '{}'
      AND EXISTS (SELECT 1 FROM jsonb_object_keys(hidden_spans) key WHERE key = ANY (${[...memoryIds]}::text[]))
    ORDER BY created_at, id`;
}

/** Locks episodes, in the order of their ids. Leaves out what is gone meanwhile. */
export async function lockHidingEpisodes(transaction: Transaction, ids: readonly string[]): Promise<HidingEpisode[]> {
  if (ids.length === 0) return [];
  return transaction.$queryRaw`
    SELECT id::text, content, hidden_spans AS "hiddenSpans", forgotten_at IS NOT NULL AS "isForgotten" FROM episodes
    WHERE tenant_id = ${transaction.tenantId} AND id = ANY (${[...ids]}::uuid[]) ORDER BY id FOR UPDATE`;
}
