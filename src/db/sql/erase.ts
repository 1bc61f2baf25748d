import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';

/** What an erasure takes away besides the rows of the memories, and how it finds that. */

export interface Erased {
  tenantId: string;
  memories: readonly { type: MemoryType; id: string }[];
}

const idsOf = ({ memories }: Erased): Prisma.Sql => Prisma.sql`${memories.map(({ id }) => id)}::text[]`;
const uuidsOf = ({ memories }: Erased): Prisma.Sql => Prisma.sql`${memories.map(({ id }) => id)}::uuid[]`;

const erasedText = '[erased]';

/** Locks the rows that are there, in one order for all. */
export function lockMemories(type: MemoryType, tenantId: string, ids: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT m.id::text FROM ${Prisma.raw(memoryTables[type])} m
    WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[]) ORDER BY m.id FOR UPDATE`;
}

/** Of each memory, whether any event still says what it said, and the erasure that took it away if one did. */
export function selectStanding(erased: Erased): Prisma.Sql {
  return Prisma.sql`
    SELECT wanted.type, wanted.id, bool_or(NOT e.payload ? 'erased' AND e.event_type NOT LIKE '%.erased') AS told,
      max(e.payload->>'erased') AS erasure
    FROM unnest(${erased.memories.map(({ type }) => type)}::text[], ${idsOf(erased)}) AS wanted (type, id)
      LEFT JOIN memory_events e
        ON e.tenant_id = ${erased.tenantId} AND e.entity_type = wanted.type AND e.entity_id = wanted.id
    GROUP BY wanted.type, wanted.id`;
}

/** The events that say what they said: their own, and those of the runs that read them. */
export function selectEventsToErase(erased: Erased, runIds: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT e.id::text FROM memory_events e
    WHERE e.tenant_id = ${erased.tenantId} AND NOT e.payload ? 'erased' AND e.event_type NOT LIKE '%.erased' AND (
      (e.entity_type = ANY (${memoryTypes}) AND e.entity_id = ANY (${idsOf(erased)}))
      OR (e.entity_type = 'consolidation_run' AND e.entity_id = ANY (${runIds}::text[])))
    ORDER BY e.sequence`;
}

const readsThem = (erased: Erased): Prisma.Sql =>
  Prisma.sql`r.tenant_id = ${erased.tenantId} AND r.episode_ids && ${uuidsOf(erased)}`;

/** The runs that read one of them. */
export function selectRunsToErase(erased: Erased): Prisma.Sql {
  return Prisma.sql`SELECT r.id::text FROM consolidation_runs r WHERE ${readsThem(erased)}`;
}

/** What a run says of its episodes is cleaned before it is kept; it goes all the same. */
export function eraseFromRuns(erased: Erased): Prisma.Sql {
  return Prisma.sql`
    UPDATE consolidation_runs r SET
      error = CASE WHEN r.error IS NOT NULL THEN ${erasedText} END,
      output_digest = NULL,
      refused_items = (
        SELECT coalesce(jsonb_agg(item || jsonb_build_object('reason', ${erasedText}::text)), '[]')
        FROM jsonb_array_elements(r.refused_items) item)
    WHERE ${readsThem(erased)}
    RETURNING r.id::text`;
}

/** The lists of a receipt are as src/retrieval/receipts/receipt-form.ts says: candidates and drops have an id among their values. */
const isErased = (erased: Erased): Prisma.Sql => Prisma.sql`item ?| ${idsOf(erased)}`;
const itemsOf = (column: string): Prisma.Sql =>
  Prisma.sql`jsonb_array_elements(${Prisma.raw(column)}) WITH ORDINALITY AS items (item, place)`;

/**
 * Receipts that rank or show one of them, and those whose query may repeat it, with a text that it would repeat: whether
 * it does so in whole words is for the caller to see.
 */
export function selectReceiptsToErase(erased: Erased, texts: readonly string[]): Prisma.Sql {
  const names = (column: string): Prisma.Sql =>
    Prisma.sql`EXISTS (SELECT FROM ${itemsOf(column)} WHERE ${isErased(erased)})`;
  return Prisma.sql`
    SELECT c.id::text, c.query, (c.memory_ids && ${uuidsOf(erased)} OR ${names('c.candidates')} OR ${names('c.dropped')})
        AS "isNamed",
      ARRAY(SELECT said FROM unnest(${texts}::text[]) said WHERE strpos(lower(c.query), lower(said)) > 0) AS said
    FROM context_receipts c
    WHERE c.tenant_id = ${erased.tenantId} AND (c.memory_ids && ${uuidsOf(erased)} OR ${names('c.candidates')}
      OR ${names('c.dropped')}
      OR EXISTS (SELECT FROM unnest(${texts}::text[]) said WHERE strpos(lower(c.query), lower(said)) > 0))`;
}

/** Of a choice, where the digest of its line is: the last of its values. */
const digestPlace = 4;

/**
 * These receipts keep no query, and of what was erased no more than that it was shown. Fingerprints tell a text to who can
 * guess it, and do not say which memory they are of: all of the receipt go.
 */
export function eraseFromReceipts(erased: Erased, receiptIds: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    UPDATE context_receipts SET query = ${erasedText}, fingerprints = '{}',
      candidates = (
        SELECT coalesce(jsonb_agg(item ORDER BY place), '[]') FROM ${itemsOf('candidates')} WHERE NOT ${isErased(erased)}),
      dropped = (
        SELECT coalesce(jsonb_agg(item - ${idsOf(erased)} ORDER BY place), '[]') FROM ${itemsOf('dropped')}),
      chosen = (
        SELECT coalesce(jsonb_agg(CASE WHEN memory_ids[place] = ANY (${uuidsOf(erased)}) THEN item - ${digestPlace}::int
          ELSE item END ORDER BY place), '[]')
        FROM ${itemsOf('chosen')})
    WHERE tenant_id = ${erased.tenantId} AND id = ANY (${receiptIds}::uuid[])`;
}

/** The writes that were answered with one of these ids. */
export function selectKeysToErase(erased: Erased, answers: readonly string[]): Prisma.Sql {
  return Prisma.sql`SELECT key AS id FROM idempotency_keys WHERE ${isAnswered(erased, answers)}`;
}

const isAnswered = ({ tenantId }: Erased, answers: readonly string[]): Prisma.Sql =>
  Prisma.sql`tenant_id = ${tenantId} AND response->>'id' = ANY (${answers}::text[])`;

/** A key stays used, so that sending the write again does not store anew what was erased. */
export function eraseFromKeys(erased: Erased, answers: readonly string[], erasureId: string): Prisma.Sql {
  return Prisma.sql`
    UPDATE idempotency_keys SET input_digest = ${erasedText}, response = jsonb_build_object('erased', ${erasureId}::text)
    WHERE ${isAnswered(erased, answers)}`;
}

export interface ErasureReceipt {
  id: string;
  at: Date;
  actor: string;
  requestId: string;
  memories: Prisma.InputJsonArray;
  counts: Record<string, number>;
}

/** Blanks the payloads, leaves the receipt, and gives its hash. */
export function eraseEvents(receipt: ErasureReceipt, eventIds: readonly string[]): Prisma.Sql {
  const { id, at, actor, requestId, memories, counts } = receipt;
  return Prisma.sql`
    SELECT memory_erase_events(${id}::uuid, ${at}::timestamptz, ${actor}, ${requestId}, ${JSON.stringify(memories)}::jsonb,
      ${JSON.stringify(counts)}::jsonb, ${eventIds}::uuid[]) AS hash`;
}

/** Facts that took the place of erased ones, each with the nearest before those that stays, if there is one. */
export function selectBridges({ tenantId, memories }: Erased): Prisma.Sql {
  const ids = memories.filter(({ type }) => type === 'fact').map(({ id }) => id);
  return Prisma.sql`
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

/** What was learned from episodes: by the episode that it names, or by a link. */
export function selectDerived(tenantId: string, episodeIds: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT 'fact' AS type, id::text FROM facts
      WHERE tenant_id = ${tenantId} AND source_episode_id = ANY (${episodeIds}::uuid[])
    UNION SELECT 'rule', id::text FROM rules
      WHERE tenant_id = ${tenantId} AND source_episode_id = ANY (${episodeIds}::uuid[])
    UNION SELECT source_type, source_id::text FROM memory_links
      WHERE tenant_id = ${tenantId} AND relation = 'derived_from' AND target_type = 'episode'
        AND target_id = ANY (${episodeIds}::uuid[])
    ORDER BY type, id`;
}

/** The episodes that facts and rules were learned from, as far as they are there: they say the same. */
export function selectSources(erased: Erased): Prisma.Sql {
  const { tenantId } = erased;
  return Prisma.sql`
    SELECT 'episode' AS type, e.id::text FROM episodes e
    WHERE e.tenant_id = ${tenantId} AND e.id IN (
      SELECT source_episode_id FROM facts WHERE tenant_id = ${tenantId} AND id = ANY (${uuidsOf(erased)})
      UNION SELECT source_episode_id FROM rules WHERE tenant_id = ${tenantId} AND id = ANY (${uuidsOf(erased)})
      UNION SELECT target_id FROM memory_links
        WHERE tenant_id = ${tenantId} AND relation = 'derived_from' AND target_type = 'episode'
          AND source_id = ANY (${uuidsOf(erased)}))
    ORDER BY e.id`;
}

/** What they say and ever said, by their rows and by their events; what is sealed as it is. */
export function selectSaid(erased: Erased): Prisma.Sql {
  const { tenantId } = erased;
  const plain = (table: string): Prisma.Sql => Prisma.sql`
    SELECT id::text, content, NULL AS "sealedContent", NULL AS "dataKeyId" FROM ${Prisma.raw(table)}
    WHERE tenant_id = ${tenantId} AND id = ANY (${uuidsOf(erased)})`;
  return Prisma.sql`
    ${plain('episodes')} UNION ${plain('rules')}
    UNION SELECT id::text, content, sealed_content::text, data_key_id::text FROM facts
      WHERE tenant_id = ${tenantId} AND id = ANY (${uuidsOf(erased)})
    UNION SELECT e.entity_id, state->>'content', state->>'sealed_content', state->>'data_key_id'
      FROM memory_events e CROSS JOIN LATERAL (VALUES (e.payload->'before'), (e.payload->'after')) AS states (state)
      WHERE e.tenant_id = ${tenantId} AND e.entity_type = ANY (${memoryTypes}) AND e.entity_id = ANY (${idsOf(erased)})
        AND state ? 'content'`;
}

/** The facts about a subject, in whatever state; also those whose rows are gone while their events still say it. */
export function selectFactsAbout(tenantId: string, subject: string): Prisma.Sql {
  return Prisma.sql`
    SELECT type, id FROM (
      SELECT 'fact' AS type, id::text, created_at FROM facts
      WHERE tenant_id = ${tenantId} AND subject_key = memory_key(${subject})
      UNION ALL SELECT type, id, created_at FROM (${removedMemories(tenantId)}) removed
      WHERE type = 'fact' AND memory_key(state->>'subject') = memory_key(${subject})
    ) about GROUP BY type, id, created_at ORDER BY created_at, id`;
}

/**
 * Memories whose text has the words of a subject one after the other, but for facts about it. The phrase is read once for
 * each language that rows are in: to read it for each row takes longer than the rest.
 */
export function selectMentions(tenantId: string, subject: string): Prisma.Sql {
  const phrase = (language: string): Prisma.Sql =>
    Prisma.sql`phraseto_tsquery(memory_text_search(${Prisma.raw(language)}), ${subject})`;
  const languages = memoryTypes.map(
    (type) => Prisma.sql`SELECT language FROM ${Prisma.raw(memoryTables[type])} WHERE tenant_id = ${tenantId}`,
  );
  const mentioning = (type: MemoryType): Prisma.Sql => Prisma.sql`
    SELECT ${type} AS type, m.id::text FROM ${Prisma.raw(memoryTables[type])} m
      JOIN phrases p ON p.language = m.language AND m.search_vector @@ p.phrase
    WHERE m.tenant_id = ${tenantId}`;
  return Prisma.sql`
    WITH phrases AS MATERIALIZED (
      SELECT language, ${phrase('language')} AS phrase FROM (${Prisma.join(languages, ' UNION ')}) AS used
    )
    ${mentioning('episode')}
    UNION ${mentioning('fact')} AND m.subject_key <> memory_key(${subject})
    UNION ${mentioning('rule')}
    UNION SELECT type, id FROM (${removedMemories(tenantId)}) removed
      WHERE to_tsvector(memory_text_search(state->>'language'), state->>'content') @@ ${phrase(`state->>'language'`)}
        AND memory_key(coalesce(state->>'subject', '')) <> memory_key(${subject})
    ORDER BY type, id`;
}

/** What events say of memories whose rows a sweep has removed, one row for each state. */
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
