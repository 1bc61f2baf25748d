import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, TenantDatabase } from '../database.ts';

export interface CheckedEntry {
  position: string;
  eventId: string;
  flaw: 'follows_nothing' | 'gone' | 'changed' | 'payload_changed';
  payloadDigest: string;
  /** The erasure that blanked the payload, if the payload says so. */
  erasedBy: string | null;
}

export interface CheckedEntries {
  /** Null after the last page. */
  last: string | null;
  flawed: CheckedEntry[];
}

export interface ChainPage {
  after: bigint;
  limit: number;
}

/** The planner may have no statistics of a new tenant yet, and a nested loop planned for one row takes minutes for thousands. */
async function readJson<T>(db: TenantDatabase, statement: Prisma.Sql): Promise<T> {
  const [json] = await db.roundTrip([statement], { enable_nestloop: 'off' });
  return JSON.parse(json ?? '') as T;
}

/**
 * Checks a page of the chain against the events. Each entry is compared with the entry before it as that stands, so that
 * one flaw is reported once and not for all entries after it.
 */
export async function checkChain(db: TenantDatabase, { after, limit }: ChainPage): Promise<CheckedEntries> {
  const { tenantId } = db;
  return readJson(
    db,
    Prisma.sql`
    WITH entries AS MATERIALIZED (
      SELECT entry.*, lag(position) OVER in_order AS previous_position, lag(hash) OVER in_order AS previous_hash
      FROM (
        SELECT * FROM event_chain WHERE tenant_id = ${tenantId} AND position >= ${after} ORDER BY position
        LIMIT ${limit + 1}
      ) entry WINDOW in_order AS (ORDER BY position)
    ), events AS MATERIALIZED (
      SELECT e.id, e AS event, memory_payload_digest(e.payload) AS payload_digest FROM memory_events e
      WHERE e.tenant_id = ${tenantId} AND e.id = ANY (ARRAY(SELECT event_id FROM entries))
    ), checked AS (
      SELECT entry.position, entry.event_id, encode(entry.payload_digest, 'hex') AS payload_digest,
        CASE WHEN (found.event).payload = jsonb_build_object('erased', (found.event).payload -> 'erased')
          THEN (found.event).payload ->> 'erased' END AS erased_by, CASE
          WHEN entry.position > 1 AND previous_position IS DISTINCT FROM entry.position - 1 THEN 'follows_nothing'
          WHEN found.id IS NULL THEN 'gone'
          WHEN entry.hash <> ${chainHash('previous_hash', 'found.event', 'entry.payload_digest')} THEN 'changed'
          WHEN found.payload_digest <> entry.payload_digest THEN 'payload_changed'
        END AS flaw
      FROM entries entry LEFT JOIN events found ON found.id = entry.event_id
      WHERE entry.position > ${after}
    )
    SELECT jsonb_build_object('last', max(position)::text, 'flawed', coalesce(
        jsonb_agg(jsonb_build_object('position', position::text, 'eventId', event_id, 'flaw', flaw,
            'payloadDigest', payload_digest, 'erasedBy', erased_by) ORDER BY position)
          FILTER (WHERE flaw IS NOT NULL),
        '[]'))
    FROM checked`,
  );
}

/** Computes the hash of an entry for this event after an entry with the previous hash. */
function chainHash(previous: string, event: string, digest: string): Prisma.Sql {
  return Prisma.sql`memory_chain_step(${Prisma.raw(previous)}, memory_chain_start(entry.tenant_id),
    memory_event_content(${Prisma.raw(event)}, ${Prisma.raw(digest)}))`;
}

export interface MovedEntry {
  position: string;
  /** The position of the event that it was exchanged with. */
  other: string;
}

/** Finds the entries that would be right if their events, or the sequence numbers of these, were exchanged. */
export async function listMovedEvents(client: TenantClient, positions: readonly bigint[]): Promise<MovedEntry[]> {
  return client.$queryRaw`
    SELECT entry.position::text, min(place.position)::text AS other
    FROM event_chain entry
      JOIN event_chain place ON place.tenant_id = entry.tenant_id AND place.position <> entry.position
      JOIN memory_events own ON own.tenant_id = entry.tenant_id AND own.id = entry.event_id
      JOIN memory_events another ON another.tenant_id = place.tenant_id AND another.id = place.event_id
      LEFT JOIN event_chain previous ON previous.tenant_id = entry.tenant_id AND previous.position = entry.position - 1
    WHERE entry.tenant_id = ${client.tenantId} AND entry.position = ANY (${positions}::bigint[])
      AND place.position = ANY (${positions}::bigint[])
      AND entry.hash IN (
        ${chainHash('previous.hash', 'another', 'memory_payload_digest(another.payload)')},
        ${chainHash('previous.hash', "jsonb_populate_record(own, jsonb_build_object('sequence', another.sequence))", 'entry.payload_digest')}
      )
    GROUP BY entry.position ORDER BY entry.position`;
}

export interface UnchainedEvents {
  last: string | null;
  ids: string[];
}

/** Lists events without an entry in the chain, among the next events by sequence. */
export async function listUnchainedEvents(db: TenantDatabase, { after, limit }: ChainPage): Promise<UnchainedEvents> {
  const { tenantId } = db;
  return readJson(
    db,
    Prisma.sql`
    WITH events AS MATERIALIZED (
      SELECT id, sequence FROM memory_events
      WHERE tenant_id = ${tenantId} AND sequence > ${after} ORDER BY sequence LIMIT ${limit}
    ), entries AS MATERIALIZED (
      SELECT event_id FROM event_chain WHERE tenant_id = ${tenantId} AND event_id = ANY (ARRAY(SELECT id FROM events))
    )
    SELECT jsonb_build_object('last', max(sequence)::text,
      'ids', coalesce(jsonb_agg(id ORDER BY sequence) FILTER (WHERE event_id IS NULL), '[]'))
    FROM events LEFT JOIN entries ON event_id = id`,
  );
}

export interface SoundErasure {
  id: string;
  /** The digests of the payloads that it blanked, by position. */
  blanked: Record<string, string>;
}

/** Lists erasures whose receipt is unchanged, as an event in the chain proves. */
export async function listSoundErasures(client: TenantClient, ids: readonly string[]): Promise<SoundErasure[]> {
  const { tenantId } = client;
  return client.$queryRaw`
    SELECT x.id::text, x.blanked FROM erasures x
    WHERE x.tenant_id = ${tenantId} AND x.id::text = ANY (${ids}::text[]) AND x.hash = memory_erasure_hash(x)
      AND EXISTS (
        SELECT FROM memory_events e JOIN event_chain entry ON entry.event_id = e.id AND entry.tenant_id = e.tenant_id
        WHERE e.tenant_id = ${tenantId} AND e.entity_type = x.memories->0->>'type'
          AND e.entity_id = x.memories->0->>'id' AND e.event_type LIKE '%.erased'
          AND e.payload->'erasure' = jsonb_build_object('id', x.id, 'hash', encode(x.hash, 'hex')))`;
}
