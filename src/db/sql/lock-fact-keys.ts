import { Prisma } from '../../generated/prisma/client.ts';

export interface FactKeys {
  tenantId: string;
  /** By what they are made of, and by the facts that have them. */
  keys: readonly { scope: string; subject: string; predicate: string }[];
  factIds: readonly string[];
}

/** Several keys as `lockFactKey` locks one, always in the same order: two writers never wait for each other. */
export function lockFactKeys({ tenantId, keys, factIds }: FactKeys): Prisma.Sql {
  const column = (name: 'scope' | 'subject' | 'predicate'): Prisma.Sql =>
    Prisma.sql`${keys.map((key) => key[name])}::text[]`;
  return Prisma.sql`
    SELECT pg_advisory_xact_lock(hash)::text FROM (
      SELECT DISTINCT hashtextextended(
        jsonb_build_array(${tenantId}::text, scope, memory_key(subject), memory_key(predicate))::text, 0) AS hash
      FROM (
        SELECT * FROM unnest(${column('scope')}, ${column('subject')}, ${column('predicate')}) AS k (scope, subject, predicate)
        UNION ALL
        SELECT f.scope, f.subject, f.predicate FROM facts f
        WHERE f.tenant_id = ${tenantId} AND f.id = ANY (${factIds}::uuid[])
      ) keys
      ORDER BY hash OFFSET 0
    ) hashes`;
}
