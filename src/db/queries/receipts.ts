import { Prisma } from '../../generated/prisma/client.ts';
import type { RedactedText } from '../../redaction/redactor.ts';
import type { TenantClient, TenantDatabase } from '../database.ts';
import type { MemoryType } from '../tables.ts';

export interface NewReceiptRow {
  tenantId: string;
  id: string;
  kind: string;
  butler: RedactedText | null;
  sessionId: string | null;
  requestId: string | null;
  query: RedactedText;
  intent: string | null;
  candidates: readonly object[];
  chosen: readonly object[];
  dropped: readonly object[];
  memoryIds: readonly string[];
  fingerprints: readonly string[];
  tokenBudget: number | null;
  tokensUsed: number | null;
  tokenizer: string | null;
  configurationDigest: string;
  stageMilliseconds: object;
  asOf: Date | null;
  createdAt: Date;
  expiresAt: Date;
}

/**
 * Inserts receipts without waiting for the disk, also for a caller with a read-only grant, who is shown something too.
 * JSON is written as text that the database reads: Prisma takes several times as long for JSON of this size.
 */
export async function insertReceipts(db: TenantDatabase, rows: readonly NewReceiptRow[]): Promise<void> {
  const values = rows.map(
    (row) => Prisma.sql`(
      ${row.tenantId}, ${row.id}::uuid, ${row.kind}, ${row.butler}, ${row.sessionId}::uuid, ${row.requestId},
      ${row.query}, ${row.intent}, ${JSON.stringify(row.candidates)}::jsonb, ${JSON.stringify(row.chosen)}::jsonb,
      ${JSON.stringify(row.dropped)}::jsonb, ${[...row.memoryIds]}::uuid[], ${[...row.fingerprints]}::text[],
      ${row.tokenBudget}::int, ${row.tokensUsed}::int, ${row.tokenizer}, ${row.configurationDigest},
      ${JSON.stringify(row.stageMilliseconds)}::jsonb, ${row.asOf}::timestamptz, ${row.createdAt}::timestamptz, ${row.expiresAt}::timestamptz)`,
  );
  const statement = Prisma.sql`
    INSERT INTO context_receipts (
      tenant_id, id, kind, butler, session_id, request_id, query, intent, candidates, chosen, dropped, memory_ids,
      fingerprints, token_budget, tokens_used, tokenizer, configuration_digest, stage_milliseconds, as_of, created_at, expires_at
    ) VALUES ${Prisma.join(values)}`;
  await db.roundTrip([statement], { synchronous_commit: 'off', transaction_read_only: 'off' });
}

interface ReceiptsQuery {
  references: readonly { type: string; id: string }[];
  /** Only those of this butler; null for all. */
  butler: string | null;
  at: Date;
  /** Of each memory. */
  limit: number;
}

/** A receipt in short, as one of those that showed a memory. */
export interface ReceiptOfMemory {
  type: MemoryType;
  memoryId: string;
  id: string;
  kind: string;
  butler: string | null;
  sessionId: string | null;
  requestId: string;
  query: string;
  intent: string | null;
  tokenBudget: number | null;
  tokensUsed: number;
  /** The past moment that was asked about; null for the present. */
  asOf: Date | null;
  createdAt: Date;
  expiresAt: Date;
  /** The version of the memory that it showed. */
  version: number | null;
}

/**
 * Lists the latest receipts that show each of several memories, newest first, in one statement. What is chosen is at the place
 * that the memory has in memory_ids, its type and version first (src/retrieval/receipts/receipt-form.ts).
 */
export async function listReceiptsOfMemories(
  client: TenantClient,
  { references, butler, at, limit }: ReceiptsQuery,
): Promise<ReceiptOfMemory[]> {
  return client.$queryRaw`
    SELECT wanted.type, wanted.id::text AS "memoryId", r.id::text, r.kind, r.butler, r.session_id::text AS "sessionId",
      r.request_id AS "requestId", r.query, r.intent, r.token_budget AS "tokenBudget", r.tokens_used AS "tokensUsed",
      r.as_of AS "asOf", r.created_at AS "createdAt", r.expires_at AS "expiresAt",
      CASE WHEN shown.choice->>0 = left(wanted.type, 1) THEN (shown.choice->>1)::int END AS version
    FROM unnest(${references.map(({ type }) => type)}::text[], ${references.map(({ id }) => id)}::uuid[]) AS wanted (type, id)
      CROSS JOIN LATERAL memory_receipts(wanted.id, ${butler}::text, ${at}::timestamptz, ${limit}::int) AS found (id)
      JOIN context_receipts r ON r.tenant_id = ${client.tenantId} AND r.id = found.id
      CROSS JOIN LATERAL (SELECT r.chosen->(array_position(r.memory_ids, wanted.id) - 1)) AS shown (choice)
    ORDER BY r.created_at DESC, r.id`;
}
