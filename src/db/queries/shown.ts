import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import type { Sealable } from '../stored-fact.ts';

/** From one moment to before another. */
export interface Span {
  from: Date;
  to: Date;
}

export interface ShownQuery {
  butler: string;
  sessionIds: readonly string[];
  before: Date;
  /** Of receipts that name no session, for this butler or for none. */
  withoutSession: Span;
  /** Of all receipts for this butler or for none; null for none of them. */
  ofAnySession: Span | null;
}

/** Either a receipt, or the texts of one memory that such a receipt shows. */
export type ShownRow =
  | {
      createdAt: Date;
      sessionId: string | null;
      memoryIds: string[];
      fingerprints: string[];
      memoryId: null;
    }
  | {
      createdAt: null;
      sessionId: null;
      memoryIds: null;
      fingerprints: null;
      memoryId: string;
      /** Of a fact: what it is about. */
      about: string | null;
      content: Sealable<string>;
      sealedContent: Uint8Array | null;
      dataKeyId: string | null;
    };

/**
 * Lists receipts and the texts that they show, in one statement. The content of a fact or episode never changes under its
 * id; an edited rule, or a deleted memory, is recognised by its fingerprint.
 */
export async function listShown(client: TenantClient, query: ShownQuery): Promise<ShownRow[]> {
  const { tenantId } = client;
  const { butler, sessionIds, before } = query;
  return client.$queryRaw`
    WITH shown AS (
      SELECT r.created_at, r.session_id, r.memory_ids, r.fingerprints FROM context_receipts r
      WHERE r.tenant_id = ${tenantId} AND r.session_id = ANY(${[...sessionIds]}::uuid[]) AND r.created_at < ${before}::timestamptz
      UNION ALL ${receiptsOfButler(tenantId, query, Prisma.sql`r.butler = ${butler}`)}
      UNION ALL ${receiptsOfButler(tenantId, query, Prisma.sql`r.butler IS NULL`)}
    ), memories AS MATERIALIZED (
      SELECT DISTINCT id FROM shown, unnest(shown.memory_ids) AS id
    )
    SELECT created_at AS "createdAt", session_id::text AS "sessionId", memory_ids::text[] AS "memoryIds", fingerprints,
      NULL AS "memoryId", NULL AS about, NULL AS content, NULL::bytea AS "sealedContent", NULL AS "dataKeyId"
    FROM shown WHERE cardinality(memory_ids) > 0
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, f.id::text,
      CASE WHEN NOT memory_is_note(f.subject, f.predicate) THEN f.subject || ' ' || f.predicate END, f.content, f.sealed_content,
      f.data_key_id::text
    FROM memories m JOIN facts f ON f.tenant_id = ${tenantId} AND f.id = m.id
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, e.id::text, NULL, e.content, NULL, NULL
    FROM memories m JOIN episodes e ON e.tenant_id = ${tenantId} AND e.id = m.id
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, r.id::text, NULL, r.content, NULL, NULL
    FROM memories m JOIN rules r ON r.tenant_id = ${tenantId} AND r.id = m.id`;
}

/** Separate for the butler and for none, so that both use the index. */
function receiptsOfButler(
  tenantId: string,
  { withoutSession, ofAnySession }: ShownQuery,
  served: Prisma.Sql,
): Prisma.Sql {
  const anySession =
    ofAnySession === null
      ? Prisma.sql`false`
      : Prisma.sql`r.created_at >= ${ofAnySession.from}::timestamptz AND r.created_at < ${ofAnySession.to}::timestamptz`;
  return Prisma.sql`
      SELECT r.created_at, r.session_id, r.memory_ids, r.fingerprints FROM context_receipts r
      WHERE r.tenant_id = ${tenantId} AND ${served} AND r.created_at >= ${withoutSession.from}::timestamptz
        AND r.created_at < ${withoutSession.to}::timestamptz AND (r.session_id IS NULL OR ${anySession})`;
}
