import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';
import { slotColumns, vectorText, type EmbeddingSlot } from '../queries/embeddings.ts';

export interface VersionPlace {
  tenantId: string;
  /** Of the version whose vectors are meant, and where it keeps them. */
  id: string;
  slot: EmbeddingSlot;
}

export interface RowToEmbed {
  id: string;
  content: string;
  subject: string | null;
  predicate: string | null;
}

/** The next rows, by id, that have no vector of the version, whatever their state: they may come back. */
export function selectRowsToEmbed(type: MemoryType, place: VersionPlace, after: string, limit: number): Prisma.Sql {
  const fact = Prisma.raw(type === 'fact' ? 'm.subject, m.predicate' : 'NULL AS subject, NULL AS predicate');
  return Prisma.sql`
    SELECT m.id::text, m.content, ${fact} FROM ${Prisma.raw(memoryTables[type])} m
    WHERE m.tenant_id = ${place.tenantId} AND m.id > ${after}::uuid AND ${lacks(place)}
    ORDER BY m.id LIMIT ${limit}`;
}

/**
 * Writes the vectors of rows whose text still is what they were made of. A row that somebody holds is left for the next
 * round: whoever waits for no row cannot be in a ring of waiters.
 */
export function fillVectors(
  type: MemoryType,
  place: VersionPlace,
  rows: readonly (RowToEmbed & { vector: Float32Array })[],
): Prisma.Sql {
  const table = Prisma.raw(memoryTables[type]);
  const { vector, version } = slotColumns(place.slot);
  const isSame = Prisma.raw(
    type === 'fact'
      ? 'm.content = given.content AND m.subject = given.subject AND m.predicate = given.predicate'
      : 'm.content = given.content',
  );
  return Prisma.sql`
    WITH free AS (
      SELECT m.id, given.vector::vector AS vector FROM ${table} m
      JOIN unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ content }) => content)}::text[],
        ${rows.map(({ subject }) => subject)}::text[], ${rows.map(({ predicate }) => predicate)}::text[],
        ${rows.map((row) => vectorText(row.vector))}::text[]) AS given(id, content, subject, predicate, vector)
        ON given.id = m.id
      WHERE m.tenant_id = ${place.tenantId} AND ${isSame} AND ${lacks(place)}
      FOR UPDATE OF m SKIP LOCKED
    )
    UPDATE ${table} m SET ${vector} = free.vector, ${version} = ${place.id}::uuid
    FROM free WHERE m.tenant_id = ${place.tenantId} AND m.id = free.id`;
}

function lacks({ id, slot }: VersionPlace): Prisma.Sql {
  return Prisma.sql`m.${slotColumns(slot).version} IS DISTINCT FROM ${id}::uuid`;
}

/** How many rows have the vector, and how many there are. */
export function countVectors({ tenantId, id, slot }: VersionPlace): Prisma.Sql {
  const counts = Object.values(memoryTables).map(
    (table) => Prisma.sql`
      SELECT count(*) AS total, count(*) FILTER (WHERE ${slotColumns(slot).version} = ${id}::uuid) AS done
      FROM ${Prisma.raw(table)} WHERE tenant_id = ${tenantId}`,
  );
  return Prisma.sql`
    SELECT sum(done)::int AS done, sum(total)::int AS total FROM (${Prisma.join(counts, ' UNION ALL ')}) counts`;
}

/** Clears the next vectors of a version, by id, and tells whose. */
export function clearVectors(type: MemoryType, place: VersionPlace, after: string, limit: number): Prisma.Sql {
  const table = Prisma.raw(memoryTables[type]);
  const { vector, version } = slotColumns(place.slot);
  return Prisma.sql`
    WITH free AS (
      SELECT id FROM ${table}
      WHERE tenant_id = ${place.tenantId} AND id > ${after}::uuid AND ${version} = ${place.id}::uuid
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE ${table} m SET ${vector} = NULL, ${version} = NULL
    FROM free WHERE m.tenant_id = ${place.tenantId} AND m.id = free.id
    RETURNING m.id::text`;
}
