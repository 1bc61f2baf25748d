import type { TenantClient } from '../database.ts';

export interface NearFact {
  id: string;
  predicate: string;
  /** Of the two vectors; null where they have none of one version. */
  similarity: number | null;
}

/** Lists the other live facts of the scope and subject of a fact, the nearest first; not notes, which have no predicate. */
export async function listFactsOfSubject(client: TenantClient, id: string): Promise<NearFact[]> {
  return client.$queryRaw`
    SELECT o.id::text AS id, o.predicate, 1 - CASE
        WHEN o.embedding_version_id = n.embedding_version_id THEN o.embedding <=> n.embedding
        WHEN o.alternate_embedding_version_id = n.alternate_embedding_version_id
          THEN o.alternate_embedding <=> n.alternate_embedding
      END AS similarity
    FROM facts n JOIN facts o ON o.tenant_id = n.tenant_id AND o.scope = n.scope AND o.subject_key = n.subject_key
      AND o.id <> n.id AND o.predicate_key <> n.predicate_key
    WHERE n.tenant_id = ${client.tenantId} AND n.id = ${id}::uuid AND o.kind = 'state' AND NOT o.set_aside
      AND o.validity IN ('active', 'fading') AND NOT memory_is_note(n.subject, n.predicate)
    ORDER BY similarity DESC NULLS LAST, o.id LIMIT 200`;
}
