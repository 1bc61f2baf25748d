import { Prisma } from '../../generated/prisma/client.ts';

export interface StoredKey {
  id: string;
  wrappedKey: Uint8Array;
  masterKeyId: string;
  status: string;
}

/** The key that is sealed under now. Until this transaction ends it cannot be retired: no writer is left behind by a rotation. */
export function lockActiveKey(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT id::text AS id, wrapped_key AS "wrappedKey", master_key_id AS "masterKeyId", status FROM data_keys
    WHERE tenant_id = ${tenantId} AND status = 'active' FOR SHARE`;
}

/** Returns the predicates that match the patterns. Asks the database, because it alone normalises keys exactly. */
export function matchPredicates(predicates: readonly string[], patternSource: string): Prisma.Sql {
  return Prisma.sql`
    SELECT memory_key(predicate) ~ ${patternSource} AS "isMatch"
    FROM unnest(${[...predicates]}::text[]) WITH ORDINALITY AS given(predicate, place) ORDER BY place`;
}
