import type { TenantClient, Transaction } from '../database.ts';

export interface StoredKey {
  id: string;
  wrappedKey: Uint8Array;
  masterKeyId: string;
  status: string;
}

/** Locks the key that is sealed with now. It cannot be retired before the transaction ends: rotation leaves no writer behind. */
export async function lockActiveKey(transaction: Transaction): Promise<StoredKey | null> {
  const [row] = await transaction.$queryRaw<StoredKey[]>`
    SELECT id::text AS id, wrapped_key AS "wrappedKey", master_key_id AS "masterKeyId", status FROM data_keys
    WHERE tenant_id = ${transaction.tenantId} AND status = 'active' FOR SHARE`;
  return row ?? null;
}

/** Returns whether a predicate matches the patterns. Asks the database, because it alone normalises keys exactly. */
export async function matchesPatterns(
  client: TenantClient,
  predicate: string,
  patternSource: string,
): Promise<boolean> {
  const [row] = await client.$queryRaw<{ isMatch: boolean }[]>`
    SELECT memory_key(${predicate}) ~ ${patternSource} AS "isMatch"`;
  return row?.isMatch === true;
}
