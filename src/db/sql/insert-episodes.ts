import { Prisma } from '../../generated/prisma/client.ts';
import type { RedactedText } from '../../redaction/redactor.ts';
import { vectorColumns, vectorValues, type NewEmbedding } from './set-embedding.ts';

export interface NewEpisodeRow {
  tenantId: string;
  id: string;
  butler: string;
  sessionId: string | null;
  content: RedactedText;
  importance: number;
  observedAt: Date | null;
  tags: RedactedText[];
  metadata: Prisma.InputJsonObject;
  /** Language of the stemmer for its words. */
  language: string;
  createdAt: Date;
  expiresAt: Date;
  requestId: string;
  embeddings: readonly NewEmbedding[];
}

/** Raw SQL, because Prisma cannot write a vector column. Inserts several at once. */
export function insertEpisodes(rows: readonly [NewEpisodeRow, ...NewEpisodeRow[]]): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO episodes (tenant_id, id, butler, session_id, content, importance, observed_at, tags, metadata,
      language, created_at, expires_at, request_id, ${vectorColumns})
    VALUES ${Prisma.join(rows.map(valuesOf))}`;
}

function valuesOf(row: NewEpisodeRow): Prisma.Sql {
  return Prisma.sql`(${row.tenantId}, ${row.id}::uuid, ${row.butler}, ${row.sessionId}::uuid, ${row.content}, ${row.importance},
      ${row.observedAt}::timestamptz, ${JSON.stringify(row.tags)}::jsonb, ${JSON.stringify(row.metadata)}::jsonb,
      ${row.language}, ${row.createdAt}::timestamptz, ${row.expiresAt}::timestamptz, ${row.requestId},
      ${vectorValues(row.embeddings)})`;
}
