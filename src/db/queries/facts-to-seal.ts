import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import type { StoredFact } from '../stored-fact.ts';

export interface KeysQuery {
  /** Predicates of facts that must be sealed; null for none. */
  patternSource: string | null;
  /** Null before the first key. */
  activeKeyId: string | null;
}

export interface FactToSeal {
  id: string;
  subject: string;
  predicate: string;
  isSealed: boolean;
}

function isDue({ patternSource, activeKeyId }: KeysQuery): Prisma.Sql {
  const isPlain =
    patternSource === null
      ? Prisma.sql`false`
      : Prisma.sql`f.data_key_id IS NULL
          AND (f.predicate_key ~ ${patternSource} OR memory_key(f.predicate) ~ ${patternSource})`;
  return Prisma.sql`((f.data_key_id IS NOT NULL AND f.data_key_id IS DISTINCT FROM ${activeKeyId}::uuid) OR (${isPlain}))`;
}

/** Counts the facts that are sealed under another key than the active one, and those that ought to be sealed and are not. */
export async function countFactsToSeal(
  client: TenantClient,
  query: KeysQuery,
): Promise<{ sealed: number; plain: number }> {
  const [row] = await client.$queryRaw<[{ sealed: number; plain: number }]>`
    SELECT (count(*) FILTER (WHERE f.data_key_id IS NOT NULL))::int AS sealed,
      (count(*) FILTER (WHERE f.data_key_id IS NULL))::int AS plain
    FROM facts f WHERE f.tenant_id = ${client.tenantId} AND ${isDue(query)}`;
  return row;
}

/** Lists the next of them by id; in any state, because they may be restored. */
export async function listFactsToSeal(
  client: TenantClient,
  query: KeysQuery,
  { after, limit }: { after: string; limit: number },
): Promise<FactToSeal[]> {
  return client.$queryRaw`
    SELECT f.id::text AS id, f.subject, f.predicate, f.data_key_id IS NOT NULL AS "isSealed" FROM facts f
    WHERE f.tenant_id = ${client.tenantId} AND f.id > ${after}::uuid AND ${isDue(query)}
    ORDER BY f.id LIMIT ${limit}`;
}

export type SealableFact = Pick<StoredFact, 'id' | 'content' | 'tags' | 'metadata' | 'sealedContent' | 'dataKeyId'>;

/** Locks those that are still due. Rows that are locked already are left to the next round. */
export async function lockFactsToSeal(
  transaction: Transaction,
  query: KeysQuery,
  ids: readonly string[],
): Promise<SealableFact[]> {
  return transaction.$queryRaw`
    SELECT f.id::text AS id, f.content, f.tags, f.metadata, f.sealed_content AS "sealedContent",
      f.data_key_id::text AS "dataKeyId"
    FROM facts f WHERE f.tenant_id = ${transaction.tenantId} AND f.id = ANY (${[...ids]}::uuid[]) AND ${isDue(query)}
    ORDER BY f.id FOR UPDATE SKIP LOCKED`;
}

/** Writes sealed contents. Keeps versions and writes no events: what the facts say does not change. */
export async function writeSealed(
  transaction: Transaction,
  dataKeyId: string,
  rows: readonly { id: string; sealedContent: Uint8Array }[],
): Promise<void> {
  if (rows.length === 0) return;
  await transaction.$executeRaw`
    UPDATE facts f SET sealed_content = decode(given.sealed, 'hex'), data_key_id = ${dataKeyId}::uuid,
      content = '***', tags = '[]', metadata = '{}'
    FROM unnest(${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ sealedContent }) => Buffer.from(sealedContent).toString('hex'))}::text[]) AS given(id, sealed)
    WHERE f.tenant_id = ${transaction.tenantId} AND f.id = given.id`;
}
