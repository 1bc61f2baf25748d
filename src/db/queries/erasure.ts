import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import type { Sealable } from '../stored-fact.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';

/** Queries that find and erase the traces of memories in other tables. */

export interface Reference {
  type: MemoryType;
  id: string;
}

/** The memories to erase. */
export type Erased = readonly Reference[];

const textIds = (memories: Erased): Prisma.Sql => Prisma.sql`${memories.map(({ id }) => id)}::text[]`;
const uuids = (memories: Erased): Prisma.Sql => Prisma.sql`${memories.map(({ id }) => id)}::uuid[]`;

const erasedText = '[erased]';

/** Locks the rows of the memories, by type and id: one order for all, so that two erasures cannot deadlock. */
export async function lockMemories(transaction: Transaction, erased: Erased): Promise<void> {
  for (const type of memoryTypes) {
    await transaction.$queryRaw`
      SELECT m.id::text FROM ${Prisma.raw(memoryTables[type])} m
      WHERE m.tenant_id = ${transaction.tenantId} AND m.id = ANY (${listIds(erased, type)}::uuid[])
      ORDER BY m.id FOR UPDATE`;
  }
}

export function listIds(erased: Erased, type: MemoryType): string[] {
  return erased.filter((memory) => memory.type === type).map(({ id }) => id);
}

export interface ContentFound {
  /** Whether any event still has the content of the memory. */
  isKnown: boolean;
  /** The erasure that blanked its events, if one did. */
  erasure: string | null;
}

/** Tells whether the events of a memory still have its content. */
export async function findContent(client: TenantClient, { type, id }: Reference): Promise<ContentFound> {
  const [row] = await client.$queryRaw<[ContentFound]>`
    SELECT coalesce(bool_or(NOT e.payload ? 'erased' AND e.event_type NOT LIKE '%.erased'), false) AS "isKnown",
      max(e.payload->>'erased') AS erasure
    FROM memory_events e WHERE e.tenant_id = ${client.tenantId} AND e.entity_type = ${type} AND e.entity_id = ${id}`;
  return row;
}

/** Lists the events with their content: their own, and those of the runs that read them. */
export async function listEventsToErase(
  client: TenantClient,
  erased: Erased,
  runIds: readonly string[],
): Promise<string[]> {
  const rows = await client.$queryRaw<{ id: string }[]>`
    SELECT e.id::text FROM memory_events e
    WHERE e.tenant_id = ${client.tenantId} AND NOT e.payload ? 'erased' AND e.event_type NOT LIKE '%.erased' AND (
      (e.entity_type = ANY (${memoryTypes}) AND e.entity_id = ANY (${textIds(erased)}))
      OR (e.entity_type = 'consolidation_run' AND e.entity_id = ANY (${runIds}::text[])))
    ORDER BY e.sequence`;
  return rows.map(({ id }) => id);
}

const hasRead = (tenantId: string, erased: Erased): Prisma.Sql =>
  Prisma.sql`r.tenant_id = ${tenantId} AND r.episode_ids && ${uuids(erased)}`;

/** Lists the runs that read one of the episodes. */
export async function listRunsToErase(client: TenantClient, erased: Erased): Promise<string[]> {
  const rows = await client.$queryRaw<{ id: string }[]>`
    SELECT r.id::text FROM consolidation_runs r WHERE ${hasRead(client.tenantId, erased)}`;
  return rows.map(({ id }) => id);
}

/** Blanks what the runs say of their episodes, although it was sanitised before. Returns the ids of the runs. */
export async function eraseFromRuns(transaction: Transaction, erased: Erased): Promise<string[]> {
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    UPDATE consolidation_runs r SET
      error = CASE WHEN r.error IS NOT NULL THEN ${erasedText} END,
      output_digest = NULL,
      refused_items = (
        SELECT coalesce(jsonb_agg(item || jsonb_build_object('reason', ${erasedText}::text)), '[]')
        FROM jsonb_array_elements(r.refused_items) item)
    WHERE ${hasRead(transaction.tenantId, erased)}
    RETURNING r.id::text`;
  return rows.map(({ id }) => id);
}

/** The lists of a receipt have the form of src/retrieval/receipts: candidates and drops have an id among their values. */
const isErased = (erased: Erased): Prisma.Sql => Prisma.sql`item ?| ${textIds(erased)}`;
const items = (column: string): Prisma.Sql =>
  Prisma.sql`jsonb_array_elements(${Prisma.raw(column)}) WITH ORDINALITY AS items (item, place)`;

export interface ReceiptFound {
  id: string;
  query: string;
  /** Whether it ranks or shows one of the memories. */
  isNamed: boolean;
  /** The texts that occur in the query, perhaps within a word. */
  said: string[];
}

/** Finds receipts that rank or show one of the memories, and those whose query contains one of the texts. */
export async function listReceiptsToErase(
  client: TenantClient,
  erased: Erased,
  texts: readonly string[],
): Promise<ReceiptFound[]> {
  const names = (column: string): Prisma.Sql =>
    Prisma.sql`EXISTS (SELECT FROM ${items(column)} WHERE ${isErased(erased)})`;
  return client.$queryRaw`
    SELECT c.id::text, c.query, (c.memory_ids && ${uuids(erased)} OR ${names('c.candidates')} OR ${names('c.dropped')})
        AS "isNamed",
      ARRAY(SELECT said FROM unnest(${texts}::text[]) said WHERE strpos(lower(c.query), lower(said)) > 0) AS said
    FROM context_receipts c
    WHERE c.tenant_id = ${client.tenantId} AND (c.memory_ids && ${uuids(erased)} OR ${names('c.candidates')}
      OR ${names('c.dropped')}
      OR EXISTS (SELECT FROM unnest(${texts}::text[]) said WHERE strpos(lower(c.query), lower(said)) > 0))`;
}

/** The index of the digest of its line among the values of a choice. */
const digestPlace = '4';

/**
 * Blanks the query of the receipts, and all that they keep of the erased memories but that they were shown. A fingerprint
 * confirms a guessed text and does not say which memory it is of, so all fingerprints of the receipts go.
 */
export async function eraseFromReceipts(
  transaction: Transaction,
  erased: Erased,
  receiptIds: readonly string[],
): Promise<number> {
  return transaction.$executeRaw`
    UPDATE context_receipts SET query = ${erasedText}, fingerprints = '{}',
      candidates = (
        SELECT coalesce(jsonb_agg(item ORDER BY place), '[]') FROM ${items('candidates')} WHERE NOT ${isErased(erased)}),
      dropped = (
        SELECT coalesce(jsonb_agg(item - ${textIds(erased)} ORDER BY place), '[]') FROM ${items('dropped')}),
      chosen = (
        SELECT coalesce(jsonb_agg(CASE WHEN memory_ids[place] = ANY (${uuids(erased)}) THEN jsonb_set(item, ARRAY[${digestPlace}::text], 'null', false)
          ELSE item END ORDER BY place), '[]')
        FROM ${items('chosen')})
    WHERE tenant_id = ${transaction.tenantId} AND id = ANY (${receiptIds}::uuid[])`;
}

/** Counts the idempotency keys of writes that were answered with one of these ids. */
export async function countKeysToErase(client: TenantClient, answers: readonly string[]): Promise<number> {
  const [row] = await client.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM idempotency_keys WHERE ${isAnswered(client.tenantId, answers)}`;
  return row.count;
}

const isAnswered = (tenantId: string, answers: readonly string[]): Prisma.Sql =>
  Prisma.sql`tenant_id = ${tenantId} AND response->>'id' = ANY (${answers}::text[])`;

/** Blanks the keys but keeps them used, so that sending the write again does not store it anew. */
export async function eraseFromKeys(
  transaction: Transaction,
  answers: readonly string[],
  erasureId: string,
): Promise<number> {
  return transaction.$executeRaw`
    UPDATE idempotency_keys SET input_digest = ${erasedText}, response = jsonb_build_object('erased', ${erasureId}::text)
    WHERE ${isAnswered(transaction.tenantId, answers)}`;
}

export interface ErasureReceipt {
  id: string;
  at: Date;
  actor: string;
  requestId: string;
  memories: Prisma.InputJsonArray;
  counts: Record<string, number>;
}

/** Blanks the payloads of the events, stores the receipt of the erasure, and returns its hash. */
export async function eraseEvents(
  transaction: Transaction,
  receipt: ErasureReceipt,
  eventIds: readonly string[],
): Promise<string> {
  const { id, at, actor, requestId, memories, counts } = receipt;
  const [row] = await transaction.$queryRaw<[{ hash: string }]>`
    SELECT memory_erase_events(${id}::uuid, ${at}::timestamptz, ${actor}, ${requestId}, ${JSON.stringify(memories)}::jsonb,
      ${JSON.stringify(counts)}::jsonb, ${eventIds}::uuid[]) AS hash`;
  return row.hash;
}

/** Finds facts that superseded erased ones, each with the nearest earlier fact that stays, if any. */
export async function listBridges(
  transaction: Transaction,
  erased: Erased,
): Promise<{ id: string; before: string | null }[]> {
  const { tenantId } = transaction;
  const ids = listIds(erased, 'fact');
  return transaction.$queryRaw`
    WITH RECURSIVE chain AS (
      SELECT f.id, f.supersedes_id AS before FROM facts f
      WHERE f.tenant_id = ${tenantId} AND f.supersedes_id = ANY (${ids}::uuid[]) AND f.id <> ALL (${ids}::uuid[])
      UNION ALL
      SELECT chain.id, f.supersedes_id FROM chain JOIN facts f ON f.tenant_id = ${tenantId} AND f.id = chain.before
      WHERE chain.before = ANY (${ids}::uuid[])
    )
    SELECT id::text, max(before::text) FILTER (WHERE before <> ALL (${ids}::uuid[])) AS before
    FROM chain GROUP BY id ORDER BY id`;
}

/** Lists what was learned from episodes: by its source episode, or by a link. */
export async function listDerived(client: TenantClient, episodeIds: readonly string[]): Promise<Reference[]> {
  const { tenantId } = client;
  return client.$queryRaw`
    SELECT 'fact' AS type, id::text FROM facts
      WHERE tenant_id = ${tenantId} AND source_episode_id = ANY (${episodeIds}::uuid[])
    UNION SELECT 'rule', id::text FROM rules
      WHERE tenant_id = ${tenantId} AND source_episode_id = ANY (${episodeIds}::uuid[])
    UNION SELECT source_type, source_id::text FROM memory_links
      WHERE tenant_id = ${tenantId} AND relation = 'derived_from' AND target_type = 'episode'
        AND target_id = ANY (${episodeIds}::uuid[])
    ORDER BY type, id`;
}

/** Lists the episodes that facts and rules were learned from, which say the same. */
export async function listSources(client: TenantClient, erased: Erased): Promise<Reference[]> {
  const { tenantId } = client;
  return client.$queryRaw`
    SELECT 'episode' AS type, e.id::text FROM episodes e
    WHERE e.tenant_id = ${tenantId} AND e.id IN (
      SELECT source_episode_id FROM facts WHERE tenant_id = ${tenantId} AND id = ANY (${uuids(erased)})
      UNION SELECT source_episode_id FROM rules WHERE tenant_id = ${tenantId} AND id = ANY (${uuids(erased)})
      UNION SELECT target_id FROM memory_links
        WHERE tenant_id = ${tenantId} AND relation = 'derived_from' AND target_type = 'episode'
          AND source_id = ANY (${uuids(erased)}))
    ORDER BY e.id`;
}

export interface PastContent {
  id: string;
  content: Sealable<string>;
  sealedContent: string | null;
  dataKeyId: string | null;
}

/** Lists all contents that the memories have and ever had, by their rows and events; sealed ones as they are. */
export async function listContents(client: TenantClient, erased: Erased): Promise<PastContent[]> {
  const { tenantId } = client;
  const plain = (table: string): Prisma.Sql => Prisma.sql`
    SELECT id::text, content, NULL AS "sealedContent", NULL AS "dataKeyId" FROM ${Prisma.raw(table)}
    WHERE tenant_id = ${tenantId} AND id = ANY (${uuids(erased)})`;
  return client.$queryRaw`
    ${plain('episodes')} UNION ${plain('rules')}
    UNION SELECT id::text, content, sealed_content::text, data_key_id::text FROM facts
      WHERE tenant_id = ${tenantId} AND id = ANY (${uuids(erased)})
    UNION SELECT e.entity_id, state->>'content', state->>'sealed_content', state->>'data_key_id'
      FROM memory_events e CROSS JOIN LATERAL (VALUES (e.payload->'before'), (e.payload->'after')) AS states (state)
      WHERE e.tenant_id = ${tenantId} AND e.entity_type = ANY (${memoryTypes}) AND e.entity_id = ANY (${textIds(erased)})
        AND state ? 'content'`;
}

/** Lists the facts about a subject in any state; also deleted ones whose events still say it. */
export async function listFactsAbout(client: TenantClient, subject: string): Promise<Reference[]> {
  const { tenantId } = client;
  return client.$queryRaw`
    SELECT type, id FROM (
      SELECT 'fact' AS type, id::text, created_at FROM facts
      WHERE tenant_id = ${tenantId} AND subject_key = memory_key(${subject})
      UNION ALL SELECT type, id, created_at FROM (${removedMemories(tenantId)}) removed
      WHERE type = 'fact' AND memory_key(state->>'subject') = memory_key(${subject})
    ) about GROUP BY type, id, created_at ORDER BY created_at, id`;
}

/**
 * Lists memories whose text contains the words of a subject as a phrase, without the facts about it. The phrase is parsed
 * once for each language of the rows: parsing it for each row takes longer than the rest.
 */
export async function listMentions(client: TenantClient, subject: string): Promise<Reference[]> {
  const { tenantId } = client;
  const phrase = (language: string): Prisma.Sql =>
    Prisma.sql`phraseto_tsquery(memory_text_search(${Prisma.raw(language)}), ${subject})`;
  const languages = memoryTypes.map(
    (type) => Prisma.sql`SELECT language FROM ${Prisma.raw(memoryTables[type])} WHERE tenant_id = ${tenantId}`,
  );
  const inSegments = Prisma.sql`OR (m.segments <> '[]' AND to_tsvector(memory_text_search(m.language), ${segmentTexts(Prisma.sql`m.segments`)}) @@ p.phrase)`;
  const inHidden = Prisma.sql`OR (m.hidden_spans <> '{}' AND to_tsvector(memory_text_search(m.language), m.content) @@ p.phrase)`;
  const mentioning = (type: MemoryType): Prisma.Sql => Prisma.sql`
    SELECT ${type} AS type, m.id::text FROM ${Prisma.raw(memoryTables[type])} m
      JOIN phrases p ON p.language = m.language
        AND (m.search_vector @@ p.phrase ${type === 'episode' ? Prisma.sql`${inSegments} ${inHidden}` : Prisma.empty})
    WHERE m.tenant_id = ${tenantId}`;
  return client.$queryRaw`
    WITH phrases AS MATERIALIZED (
      SELECT language, ${phrase('language')} AS phrase FROM (${Prisma.join(languages, ' UNION ')}) AS used
    )
    ${mentioning('episode')}
    UNION ${mentioning('fact')} AND m.subject_key <> memory_key(${subject})
    UNION ${mentioning('rule')}
    UNION SELECT type, id FROM (${removedMemories(tenantId)}) removed
      WHERE to_tsvector(memory_text_search(state->>'language'),
          concat_ws(' ', state->>'content', ${segmentTexts(Prisma.sql`state->'segments'`)})) @@ ${phrase(`state->>'language'`)}
        AND memory_key(coalesce(state->>'subject', '')) <> memory_key(${subject})
    ORDER BY type, id`;
}

/** The texts of the segments of an episode, one after the other. */
function segmentTexts(segments: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(SELECT string_agg(segment->>'text', ' ')
    FROM jsonb_array_elements(coalesce(${segments}, '[]')) segment)`;
}

/** Selects the states that events keep of deleted memories, one row for each state. */
function removedMemories(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT gone.type, gone.id::text, gone.created_at, states.state
    FROM (
      SELECT 'episode' AS type, id, created_at FROM episode_tombstones WHERE tenant_id = ${tenantId}
      UNION ALL SELECT type, id, created_at FROM memory_tombstones WHERE tenant_id = ${tenantId}
    ) gone
    JOIN memory_events e ON e.tenant_id = ${tenantId} AND e.entity_type = gone.type AND e.entity_id = gone.id::text
    CROSS JOIN LATERAL (VALUES (e.payload->'before'), (e.payload->'after')) AS states (state)
    WHERE jsonb_typeof(states.state) = 'object'`;
}

/** Deletes the rows of the memories, and leaves a tombstone of each episode. Returns the number of rule applications. */
export async function deleteErased(transaction: Transaction, erased: Erased, at: Date): Promise<number> {
  const { tenantId } = transaction;
  const [facts, rules, episodes] = [listIds(erased, 'fact'), listIds(erased, 'rule'), listIds(erased, 'episode')];
  const { count } = await transaction.ruleApplication.deleteMany({ where: { tenantId, ruleId: { in: rules } } });
  await transaction.rule.deleteMany({ where: { tenantId, id: { in: rules } } });
  await transaction.fact.updateMany({ where: { tenantId, id: { in: facts } }, data: { supersedesId: null } });
  await transaction.fact.deleteMany({ where: { tenantId, id: { in: facts } } });
  await transaction.$executeRaw`
    INSERT INTO episode_tombstones (tenant_id, id, butler, session_id, reason, created_at, deleted_at)
    SELECT tenant_id, id, butler, session_id, 'erased', created_at, ${at}::timestamptz FROM episodes
    WHERE tenant_id = ${tenantId} AND id = ANY (${episodes}::uuid[]) ON CONFLICT DO NOTHING`;
  await transaction.episode.deleteMany({ where: { tenantId, id: { in: episodes } } });
  return count;
}
