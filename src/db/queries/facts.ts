import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import type { StoredFact } from '../stored-fact.ts';

/*
 * A file of src/db/queries/ holds the statements about one noun. Each is a function that runs its statement and returns
 * typed rows: the row type stands beside the SQL that fills it, and callers see neither SQL nor `$queryRaw`.
 *
 * - The first argument is a `TenantClient`, which a `Transaction` also is. It carries the tenant: no function asks for
 *   a tenantId, and `client.tenantId` is what statements compare `tenant_id` with.
 * - What takes a lock asks for a `Transaction`, so that a lock outside a transaction does not compile.
 * - Verbs first: `find…` may return null, `list…` returns several, `lock…` locks, `insert…`, `update…` and `delete…` write.
 * - Fragments that several statements share (conditions, columns) are functions that return `Prisma.Sql`, in src/db/sql/.
 */

export interface FactKey {
  scope: string;
  subject: string;
  predicateKey: string;
}

/** A key in the form in which the database compares it. */
export interface LockedKey {
  scope: string;
  subjectKey: string;
  predicateKey: string;
}

/**
 * Locks fact keys until the transaction ends, given by their parts or by the facts that have them. A row lock would not
 * do: there may be no row yet. Always in the order of their hashes: writers that lock several in different orders
 * deadlock, so nothing else may lock a key. Two keys with one hash merely wait for each other.
 */
export async function lockFactKeys(
  transaction: Transaction,
  { keys = [], factIds = [] }: { keys?: readonly FactKey[]; factIds?: readonly string[] },
): Promise<LockedKey[]> {
  const { tenantId } = transaction;
  const column = (name: keyof FactKey): Prisma.Sql => Prisma.sql`${keys.map((key) => key[name])}::text[]`;
  return transaction.$queryRaw<LockedKey[]>`
    SELECT pg_advisory_xact_lock(hash)::text, scope, subject_key AS "subjectKey", predicate_key AS "predicateKey" FROM (
      SELECT scope, subject_key, predicate_key,
        hashtextextended(jsonb_build_array(${tenantId}::text, scope, subject_key, predicate_key)::text, 0) AS hash
      FROM (
        SELECT scope, memory_key(subject) AS subject_key, predicate_key
        FROM unnest(${column('scope')}, ${column('subject')}, ${column('predicateKey')}) AS k (scope, subject, predicate_key)
        UNION
        SELECT f.scope, f.subject_key, f.predicate_key FROM facts f
        WHERE f.tenant_id = ${tenantId} AND f.id = ANY (${factIds}::uuid[])
      ) keys
      ORDER BY hash OFFSET 0
    ) hashes`;
}

/** Lists the live state facts of a key, also those that are set aside. Only of a locked one: of another, they might be gone before the answer is here. */
export async function listLiveFacts(
  transaction: Transaction,
  { scope, subjectKey, predicateKey }: LockedKey,
): Promise<StoredFact[]> {
  const { tenantId } = transaction;
  const validity = { in: ['active', 'fading'] };
  return transaction.fact.findMany({
    where: { tenantId, scope, subjectKey, predicateKey, kind: 'state', validity },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

/** As much of a fact as it takes to know what it says. */
export type StatedFact = Pick<StoredFact, 'id' | 'content' | 'sealedContent' | 'dataKeyId'>;

/** The columns of a `StatedFact` of the table `facts f`. */
export const statedColumns = Prisma.sql`
  f.id::text AS id, f.content, f.sealed_content AS "sealedContent", f.data_key_id::text AS "dataKeyId"`;

/** Lists live facts of the same key in other scopes that say, or, where sealed, may say, something else. */
export async function listContradicting(
  client: TenantClient,
  { scope, subject, predicateKey }: FactKey,
  content: string,
  limit: number,
): Promise<StatedFact[]> {
  return client.$queryRaw<StatedFact[]>`
    SELECT ${statedColumns} FROM facts f
    WHERE f.tenant_id = ${client.tenantId} AND f.subject_key = memory_key(${subject})
      AND f.predicate_key = ${predicateKey} AND f.scope <> ${scope} AND f.kind = 'state'
      AND f.validity IN ('active', 'fading') AND NOT f.set_aside AND (f.content <> ${content} OR f.data_key_id IS NOT NULL)
    ORDER BY f.created_at DESC, f.id LIMIT ${limit}`;
}
