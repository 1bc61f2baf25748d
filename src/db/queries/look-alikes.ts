import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';

export interface NearFact {
  id: string;
  predicate: string;
  /** Of the two vectors; null where they have none of one version. */
  similarity: number | null;
}

const similarity = Prisma.sql`1 - CASE
  WHEN o.embedding_version_id = n.embedding_version_id THEN o.embedding <=> n.embedding
  WHEN o.alternate_embedding_version_id = n.alternate_embedding_version_id
    THEN o.alternate_embedding <=> n.alternate_embedding
END`;

/** Lists the other live facts of the scope and subject of a fact, the nearest first; not notes, which have no predicate. */
export async function listFactsOfSubject(client: TenantClient, id: string): Promise<NearFact[]> {
  return client.$queryRaw`
    SELECT o.id::text AS id, o.predicate, ${similarity} AS similarity
    FROM facts n JOIN facts o ON o.tenant_id = n.tenant_id AND o.scope = n.scope AND o.subject_key = n.subject_key
      AND o.id <> n.id AND o.predicate_key <> n.predicate_key
    WHERE n.tenant_id = ${client.tenantId} AND n.id = ${id}::uuid AND o.kind = 'state' AND NOT o.set_aside
      AND o.validity IN ('active', 'fading') AND NOT memory_is_note(n.subject, n.predicate)
    ORDER BY similarity DESC NULLS LAST, o.id LIMIT 200`;
}

/**
 * Lists the live facts of the scope of a note, whatever they are about, the nearest first; not sealed ones, whose vectors
 * say nothing of their content.
 */
export async function listFactsNearNote(client: TenantClient, id: string): Promise<NearFact[]> {
  return client.$queryRaw`
    SELECT o.id::text AS id, o.predicate, ${similarity} AS similarity
    FROM facts n JOIN facts o ON o.tenant_id = n.tenant_id AND o.scope = n.scope AND o.id <> n.id
    WHERE n.tenant_id = ${client.tenantId} AND n.id = ${id}::uuid AND o.kind = 'state' AND NOT o.set_aside
      AND o.validity IN ('active', 'fading') AND n.data_key_id IS NULL AND o.data_key_id IS NULL
    ORDER BY similarity DESC NULLS LAST, o.id LIMIT 10`;
}
