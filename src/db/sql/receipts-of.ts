import { Prisma } from '../../generated/prisma/client.ts';

export interface ReceiptsQuery {
  tenantId: string;
  references: readonly { type: string; id: string }[];
  /** Only those of this butler; null for all. */
  butler: string | null;
  at: Date;
  /** Of each memory. */
  limit: number;
}

/** The latest receipts that show each of several memories, newest first, in one statement. */
export function selectReceiptsOf({ tenantId, references, butler, at, limit }: ReceiptsQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT wanted.type, wanted.id::text AS "memoryId", r.id::text, r.kind, r.butler, r.session_id::text AS "sessionId",
      r.request_id AS "requestId", r.query, r.intent, r.token_budget AS "tokenBudget", r.tokens_used AS "tokensUsed",
      r.as_of AS "asOf", r.created_at AS "createdAt", r.expires_at AS "expiresAt",
      (SELECT (item->>'version')::int FROM jsonb_array_elements(r.chosen) item
       WHERE item->>'type' = wanted.type AND item->>'id' = wanted.id::text LIMIT 1) AS version
    FROM unnest(${references.map(({ type }) => type)}::text[], ${references.map(({ id }) => id)}::uuid[]) AS wanted (type, id)
      CROSS JOIN LATERAL memory_receipts(wanted.id, ${butler}::text, ${at}::timestamptz, ${limit}::int) AS found (id)
      JOIN context_receipts r ON r.tenant_id = ${tenantId} AND r.id = found.id
    ORDER BY r.created_at DESC, r.id`;
}
