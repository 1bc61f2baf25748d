import { Prisma } from '../../generated/prisma/client.ts';

export interface EmbeddingVersionRow {
  id: string;
  provider: string;
  model: string;
  dtype: string;
  digest: string;
  dimensions: number;
  slot: 'primary' | 'alternate';
  status: 'building' | 'active' | 'retired';
  createdAt: Date;
  activatedAt: Date | null;
  retiredAt: Date | null;
}

/**
 * The versions in use, in a fixed order so that no two wait for each other. A writer shares them until its transaction
 * ends; a change of versions locks them exclusively, and so comes before or after each writer, never in between.
 */
export function lockEmbeddingVersions(tenantId: string, lock: 'shared' | 'alone'): Prisma.Sql {
  return Prisma.sql`
    SELECT id::text, provider, model, dtype, digest, dimensions, slot, status, created_at AS "createdAt",
      activated_at AS "activatedAt", retired_at AS "retiredAt"
    FROM embedding_versions WHERE tenant_id = ${tenantId} AND status <> 'retired'
    ORDER BY id ${Prisma.raw(lock === 'alone' ? 'FOR UPDATE' : 'FOR KEY SHARE')}`;
}

/** Of the two slots. They differ only while, or after, a model of another size takes over. */
export const selectSlotDimensions = Prisma.sql`
  SELECT CASE attname WHEN 'embedding' THEN 'primary' ELSE 'alternate' END AS slot, atttypmod AS dimensions
  FROM pg_attribute WHERE attrelid = 'episodes'::regclass AND attname IN ('embedding', 'alternate_embedding')`;
