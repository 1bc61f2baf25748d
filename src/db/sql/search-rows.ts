import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import type { MemoryFilter } from './memory-filter.ts';
import { slotColumns, vectorText, type EmbeddingSlot } from '../queries/embeddings.ts';

/** The vectors of texts that memories had in the past, made for one search: only those of today's texts are stored. */
export interface PastVectors {
  version: { id: string; slot: EmbeddingSlot };
  ofTexts: readonly { type: MemoryType; id: string; vector: Float32Array }[];
}

/** What a search reads instead of the table of a type: the table itself, or its rows as they were. */
export function rowsToSearch(type: MemoryType, { isPast }: Pick<MemoryFilter, 'isPast'>): Prisma.Sql {
  return Prisma.raw(isPast ? `past_${memoryTables[type]}` : memoryTables[type]);
}

/** For the WITH of a statement that reads them; nothing when rows are searched as they are. */
export function pastRows(
  { isPast, tenantId, types, at }: MemoryFilter,
  vectors: PastVectors | null = null,
): Prisma.Sql[] {
  if (!isPast) return [];
  return types.map((type) => {
    const table = Prisma.raw(memoryTables[type]);
    const given = vectors === null ? null : vectorsOf(type, vectors);
    return Prisma.sql`past_${table} AS MATERIALIZED (
      SELECT m.* FROM (
        SELECT DISTINCT ON (entity_id) payload->'after' AS state FROM memory_events
        WHERE tenant_id = ${tenantId} AND entity_type = ${type} AND occurred_at <= ${at}::timestamptz
        ORDER BY entity_id, sequence DESC
      ) past
      JOIN ${table} t ON t.tenant_id = ${tenantId} AND t.id = (past.state->>'id')::uuid
      ${given === null ? Prisma.empty : given.join}
      CROSS JOIN LATERAL jsonb_populate_record(t, past.state || ${notKept(type)} ${given === null ? Prisma.empty : given.columns}) m
      WHERE jsonb_typeof(past.state) = 'object')`;
  });
}

function vectorsOf(type: MemoryType, { version, ofTexts }: PastVectors): { join: Prisma.Sql; columns: Prisma.Sql } {
  const own = ofTexts.filter((text) => text.type === type);
  const { vector, version: versionId } = slotColumns(version.slot);
  return {
    join: Prisma.sql`LEFT JOIN unnest(${own.map(({ id }) => id)}::uuid[], ${own.map((text) => vectorText(text.vector))}::text[])
      AS given(id, vector) ON given.id = t.id`,
    columns: Prisma.sql`|| CASE WHEN given.id IS NULL THEN '{}'::jsonb
      ELSE jsonb_build_object('${vector}', given.vector, '${versionId}', ${version.id}::text) END`,
  };
}

/**
 * What events do not keep of a row comes from the row of today, unless that would not be true of then: references may
 * be later ones, and where the text was another, its lexemes are made anew and its vector is not there,
 * unless it is given.
 */
function notKept(type: MemoryType): Prisma.Sql {
  const { columns, text, derived } = texts[type];
  const isSame = columns.map((name) => `t.${name} = past.state->>'${name}'`).join(' AND ');
  return Prisma.raw(`'{"reference_count": 0, "last_referenced_at": null}' || CASE WHEN ${isSame} THEN '{}'::jsonb
    ELSE jsonb_build_object('embedding_version_id', NULL, 'alternate_embedding_version_id', NULL, ${derived}
      'search_vector', to_tsvector(memory_text_search(past.state->>'language'), ${text})::text) END`);
}

/** The columns that lexemes and vectors are made of, and how the generated columns are made of them. */
const content = { columns: ['language', 'content'], text: `past.state->>'content'`, derived: '' };
const texts: Record<MemoryType, typeof content> = {
  episode: content,
  rule: content,
  fact: {
    columns: ['language', 'subject', 'predicate', 'content'],
    text: `memory_fact_text(past.state->>'subject', past.state->>'predicate', past.state->>'content')`,
    // The key of the predicate is that of the row: a predicate never changes.
    derived: `'subject_key', memory_key(past.state->>'subject'),`,
  },
};
