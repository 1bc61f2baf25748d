import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import type { AsStored } from '../stored-fact.ts';
import { milliseconds } from '../sql/moments.ts';

export interface OutdatedQuery {
  episodeIds: readonly string[];
  /** Facts whose text is compared with that of outdated ones, too. */
  noteIds: readonly string[];
  /** Notes whose sources are wanted. */
  sourcesOf: readonly string[];
  /** Scopes whose facts the reader is shown; null for all. */
  scopes: readonly string[] | null;
  at: Date;
}

/** What is outdated in the episodes of a query. */
export interface OutdatedAnswer {
  /** Where episodes say a fact or rule, and whether that still holds. */
  links: { episodeId: string; memoryId: string; spans: [number, number][]; isLive: boolean }[];
  /** The episodes that notes were learned from, and where these say them. */
  sources: { memoryId: string; content: string; spans: [number, number][] }[];
  /** Facts that do not hold any more and share a word with an episode or note, newest first. Sealed ones may share none. */
  facts: (SaidFact & {
    subject: string;
    predicate: string;
    isForgotten: boolean;
    /** When it was known that it does not hold: what is said later is news. In milliseconds since 1970. */
    endedAt: number | null;
    /** What holds instead. */
    current: SaidFact[];
  })[];
}

/** The text of a fact, which may be sealed. */
type SaidFact = AsStored<{ id: string; content: string; sealedContent: string | null; dataKeyId: string | null }>;

/** More are not compared with the text of an episode. */
const mostFacts = 200;
/** Of so many, the words of the content alone are read: those of subject and predicate are stored with them. */
const mostLookedAt = 1000;

/**
 * Lists what is outdated in episodes, for all queries in one round trip: the evidence of what was learned from them, and
 * the facts that no longer hold and may be said in them. Sealed ones are all among them: their text is not in the database.
 * Links are looked up by the ids that they are wanted for: their indexes begin with these, and a tenant has many links.
 */
export async function listOutdated(db: TenantDatabase, queries: readonly OutdatedQuery[]): Promise<OutdatedAnswer[]> {
  if (queries.length === 0) return [];
  const answers = await db.roundTrip(queries.map((query) => selectOutdated(db.tenantId, query)));
  return answers.map((answer) => JSON.parse(answer ?? '{ "links": [], "sources": [], "facts": [] }') as OutdatedAnswer);
}

function saidColumns(fact: 'f' | 'c'): Prisma.Sql {
  const columns = ['id', 'content', 'sealed_content::text AS "sealedContent"', 'data_key_id AS "dataKeyId"'];
  return Prisma.raw(columns.map((column) => `${fact}.${column}`).join(', '));
}

/**
 * When it was known that outdated fact `f` does not hold. OFFSET keeps max() from walking all events by their time: those of
 * one fact are few, and have an index.
 */
const whenEnded = Prisma.sql`
  CROSS JOIN LATERAL (
    SELECT CASE f.validity
      WHEN 'retracted' THEN (
        SELECT max(own.occurred_at) FROM (
          SELECT e.occurred_at FROM memory_events e
          WHERE e.tenant_id = f.tenant_id AND e.entity_type = 'fact' AND e.entity_id = f.id::text
            AND e.event_type = 'fact.retracted'
          OFFSET 0) own)
      WHEN 'superseded' THEN coalesce((
        SELECT max(coalesce(s.observed_at, s.created_at)) FROM facts s
        WHERE s.tenant_id = f.tenant_id AND s.supersedes_id = f.id), f.superseded_at)
      ELSE f.valid_to END AS at
  ) ended`;

/** Selects where the episodes `shown` say a fact or rule: what was learned from them, and what they confirmed. */
function selectEvidence(tenantId: string, ids: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT l.target_id AS episode_id, l.source_type AS type, l.source_id AS memory_id, l.spans FROM memory_links l
    JOIN shown ON l.target_id = shown.id
    WHERE l.tenant_id = ${tenantId} AND l.target_type = 'episode' AND l.target_id = ANY (${[...ids]}::uuid[])
      AND l.relation = 'derived_from' AND l.spans <> '[]'
    UNION ALL
    SELECT l.source_id, l.target_type, l.target_id, l.spans FROM memory_links l
    JOIN shown ON l.source_id = shown.id
    WHERE l.tenant_id = ${tenantId} AND l.source_type = 'episode' AND l.source_id = ANY (${[...ids]}::uuid[])
      AND l.relation = 'supports' AND l.spans <> '[]'`;
}

function selectOutdated(tenantId: string, { episodeIds, noteIds, sourcesOf, scopes, at }: OutdatedQuery): Prisma.Sql {
  const ids = [...episodeIds];
  const inScope = scopes === null ? Prisma.sql`true` : Prisma.sql`f.scope = ANY (${[...scopes]}::text[])`;
  const isOutdated = Prisma.sql`(f.validity IN ('superseded', 'retracted') OR f.valid_to <= ${at}::timestamptz)`;
  return Prisma.sql`
    WITH shown AS (
      SELECT e.id, e.search_vector FROM episodes e WHERE e.tenant_id = ${tenantId} AND e.id = ANY (${ids}::uuid[])
    ), evidence AS (
      ${selectEvidence(tenantId, ids)}
    ), links AS (
      SELECT e.episode_id AS "episodeId", e.memory_id AS "memoryId", e.spans, NOT ${isOutdated} AS "isLive"
      FROM evidence e JOIN facts f ON f.tenant_id = ${tenantId} AND f.id = e.memory_id WHERE e.type = 'fact'
      UNION ALL
      SELECT e.episode_id, e.memory_id, e.spans, r.validity NOT IN ('superseded', 'retracted')
      FROM evidence e JOIN rules r ON r.tenant_id = ${tenantId} AND r.id = e.memory_id WHERE e.type = 'rule'
    ), sources AS (
      SELECT l.source_id AS "memoryId", e.content, l.spans FROM memory_links l
      JOIN episodes e ON e.tenant_id = l.tenant_id AND e.id = l.target_id
      WHERE l.tenant_id = ${tenantId} AND l.source_type = 'fact' AND l.source_id = ANY (${[...sourcesOf]}::uuid[])
        AND l.relation = 'derived_from' AND l.spans <> '[]'
    ), words AS (
      SELECT array_agg(DISTINCT word) AS lexemes FROM (
        SELECT search_vector FROM shown UNION ALL
        SELECT n.search_vector FROM facts n WHERE n.tenant_id = ${tenantId} AND n.id = ANY (${[...noteIds]}::uuid[])
      ) said, unnest(tsvector_to_array(said.search_vector)) word
    ), perhaps_outdated AS MATERIALIZED (
      SELECT f.* FROM facts f, words
      WHERE f.tenant_id = ${tenantId} AND ${inScope} AND f.kind = 'state' AND ${isOutdated} AND (f.data_key_id IS NOT NULL
        OR tsvector_to_array(f.search_vector) && words.lexemes)
      ORDER BY f.created_at DESC, f.id LIMIT ${mostLookedAt}
    ), outdated AS (
      SELECT f.* FROM perhaps_outdated f, words
      WHERE f.data_key_id IS NOT NULL
        OR tsvector_to_array(to_tsvector(memory_text_search(f.language), f.content)) && words.lexemes
      ORDER BY f.created_at DESC, f.id LIMIT ${mostFacts}
    ), described AS (
      SELECT ${saidColumns('f')}, f.subject, f.predicate, f.validity = 'retracted' AS "isForgotten",
        ${Prisma.raw(milliseconds('ended.at'))} AS "endedAt", current.contents AS current
      FROM outdated f
      ${whenEnded}
      CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(said), '[]') AS contents FROM (
          SELECT ${saidColumns('c')} FROM facts c WHERE c.tenant_id = f.tenant_id AND c.supersedes_id = f.id
          UNION
          SELECT ${saidColumns('c')} FROM facts c
          WHERE c.tenant_id = f.tenant_id AND c.scope = f.scope AND c.subject_key = f.subject_key
            AND c.predicate_key = f.predicate_key AND c.kind = 'state' AND c.validity IN ('active', 'fading')
            AND NOT c.set_aside AND (c.valid_to IS NULL OR c.valid_to > ${at}::timestamptz)
        ) said
      ) current
      WHERE ended.at IS NOT NULL
    )
    SELECT json_build_object(
      'links', (SELECT coalesce(json_agg(links), '[]') FROM links),
      'sources', (SELECT coalesce(json_agg(sources), '[]') FROM sources),
      'facts', (SELECT coalesce(json_agg(described), '[]') FROM described))::text`;
}
