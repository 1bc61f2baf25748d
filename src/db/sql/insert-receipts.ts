import { Prisma } from '../../generated/prisma/client.ts';
import type { RedactedText } from '../../redaction/redactor.ts';

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

/** As text that the database reads: Prisma takes several times as long for JSON of this size. */
export function insertReceipts(rows: readonly NewReceiptRow[]): Prisma.Sql {
  const values = rows.map(
    (row) => Prisma.sql`(
      ${row.tenantId}, ${row.id}::uuid, ${row.kind}, ${row.butler}, ${row.sessionId}::uuid, ${row.requestId},
      ${row.query}, ${row.intent}, ${JSON.stringify(row.candidates)}::jsonb, ${JSON.stringify(row.chosen)}::jsonb,
      ${JSON.stringify(row.dropped)}::jsonb, ${[...row.memoryIds]}::uuid[], ${[...row.fingerprints]}::text[],
      ${row.tokenBudget}::int, ${row.tokensUsed}::int, ${row.tokenizer}, ${row.configurationDigest},
      ${JSON.stringify(row.stageMilliseconds)}::jsonb, ${row.asOf}::timestamptz, ${row.createdAt}::timestamptz, ${row.expiresAt}::timestamptz)`,
  );
  return Prisma.sql`
    INSERT INTO context_receipts (
      tenant_id, id, kind, butler, session_id, request_id, query, intent, candidates, chosen, dropped, memory_ids,
      fingerprints, token_budget, tokens_used, tokenizer, configuration_digest, stage_milliseconds, as_of, created_at, expires_at
    ) VALUES ${Prisma.join(values)}`;
}
