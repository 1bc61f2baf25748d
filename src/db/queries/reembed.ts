import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { slotColumns, tokensText, vectorText, type EmbeddingSlot, type NewEmbedding } from './embeddings.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

/** An embedding version, and the columns that hold its vectors. */
export interface VersionSlot {
  id: string;
  slot: EmbeddingSlot;
}

export interface RowToEmbed {
  id: string;
  content: string;
  subject: string | null;
  predicate: string | null;
  /** Of an episode; null for others. */
  hiddenSpans: unknown;
}

/** Lists the next rows, by id, without a vector of the version; in any state, because they may be restored. */
export async function listRowsToEmbed(
  client: TenantClient,
  type: MemoryType,
  version: VersionSlot,
  after: string,
  limit: number,
): Promise<RowToEmbed[]> {
  const fact = Prisma.raw(type === 'fact' ? 'm.subject, m.predicate' : 'NULL AS subject, NULL AS predicate');
  const hidden = Prisma.raw(type === 'episode' ? 'm.hidden_spans' : 'NULL::jsonb');
  return client.$queryRaw`
    SELECT m.id::text, m.content, ${fact}, ${hidden} AS "hiddenSpans" FROM ${Prisma.raw(memoryTables[type])} m
    WHERE m.tenant_id = ${client.tenantId} AND m.id > ${after}::uuid AND ${lacks(version)}
    ORDER BY m.id LIMIT ${limit}`;
}

/**
 * Writes the vectors of rows whose text has not changed since it was embedded, and returns how many. Skips locked rows:
 * a writer that waits for no row cannot deadlock.
 */
export async function fillVectors(
  transaction: Transaction,
  type: MemoryType,
  slot: VersionSlot,
  rows: readonly (RowToEmbed & Pick<NewEmbedding, 'vector' | 'tokens'>)[],
): Promise<number> {
  const { tenantId } = transaction;
  const table = Prisma.raw(memoryTables[type]);
  const { vector, version, tokens } = slotColumns(slot.slot);
  const isSame = Prisma.raw(
    type === 'fact'
      ? 'm.content = given.content AND m.subject = given.subject AND m.predicate = given.predicate'
      : `m.content = given.content ${type === 'episode' ? 'AND m.hidden_spans = given.hidden::jsonb' : ''}`,
  );
  return transaction.$executeRaw`
    WITH free AS (
      SELECT m.id, given.vector::vector AS vector, given.tokens::bytea AS tokens FROM ${table} m
      JOIN unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ content }) => content)}::text[],
        ${rows.map(({ subject }) => subject)}::text[], ${rows.map(({ predicate }) => predicate)}::text[],
        ${rows.map((row) => JSON.stringify(row.hiddenSpans ?? {}))}::text[], ${rows.map((row) => vectorText(row.vector))}::text[],
        ${rows.map((row) => tokensText(type, row.tokens))}::text[])
        AS given(id, content, subject, predicate, hidden, vector, tokens)
        ON given.id = m.id
      WHERE m.tenant_id = ${tenantId} AND ${isSame} AND ${lacks(slot)}
      FOR UPDATE OF m SKIP LOCKED
    )
    UPDATE ${table} m SET ${vector} = free.vector, ${version} = ${slot.id}::uuid, ${tokens} = free.tokens
    FROM free WHERE m.tenant_id = ${tenantId} AND m.id = free.id`;
}

function lacks({ id, slot }: VersionSlot): Prisma.Sql {
  return Prisma.sql`m.${slotColumns(slot).version} IS DISTINCT FROM ${id}::uuid`;
}

/** Counts the rows that have a vector of the version, and all rows. */
export async function countVectors(
  client: TenantClient,
  { id, slot }: VersionSlot,
): Promise<{ done: number; total: number }> {
  const counts = Object.values(memoryTables).map(
    (table) => Prisma.sql`
      SELECT count(*) AS total, count(*) FILTER (WHERE ${slotColumns(slot).version} = ${id}::uuid) AS done
      FROM ${Prisma.raw(table)} WHERE tenant_id = ${client.tenantId}`,
  );
  const [row] = await client.$queryRaw<[{ done: number; total: number }]>`
    SELECT sum(done)::int AS done, sum(total)::int AS total FROM (${Prisma.join(counts, ' UNION ALL ')}) counts`;
  return row;
}

/** Clears the next vectors of a version, and returns the ids of their rows. */
export async function clearVectors(
  client: TenantClient,
  type: MemoryType,
  slot: VersionSlot,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const table = Prisma.raw(memoryTables[type]);
  const { vector, version, tokens } = slotColumns(slot.slot);
  const rows = await client.$queryRaw<{ id: string }[]>`
    WITH free AS (
      SELECT id FROM ${table}
      WHERE tenant_id = ${client.tenantId} AND id > ${after}::uuid AND ${version} = ${slot.id}::uuid
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE ${table} m SET ${vector} = NULL, ${version} = NULL, ${tokens} = NULL
    FROM free WHERE m.tenant_id = ${client.tenantId} AND m.id = free.id
    RETURNING m.id::text`;
  return rows.map(({ id }) => id);
}
