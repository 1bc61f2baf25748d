import { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../database.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

/**
 * What events do not keep of a row: vectors (made again from the text), keys and generated columns (follow from the others),
 * references (counted, not told one by one) and the run that an episode was consolidated by (its event names its cause).
 */
const leftOut = [
  'embedding',
  'embedding_version_id',
  'embedding_tokens',
  'alternate_embedding',
  'alternate_embedding_version_id',
  'alternate_embedding_tokens',
  'search_vector',
  'subject_key',
  'predicate_key',
  'value_key',
  'consolidated',
  'reference_count',
  'reference_sessions',
  'last_referenced_at',
  'last_shown_at',
  'consolidation_run_id',
];

/** A row as events keep it, made by the database so that it can be compared with and turned into a row again there. */
export function snapshotOf(alias: string): Prisma.Sql {
  return Prisma.sql`to_jsonb(${Prisma.raw(alias)}) - ${leftOut}::text[]`;
}

/** A row as events keep it: column names as in the database. */
export type Snapshot = Prisma.JsonObject;

/** Locks a memory until the transaction ends, and returns its row as events keep it; null if it is not there. */
export async function lockSnapshot(
  transaction: Transaction,
  { type, id }: { type: MemoryType; id: string },
): Promise<Snapshot | null> {
  const [row] = await transaction.$queryRaw<{ snapshot: Snapshot }[]>`
    SELECT ${snapshotOf('m')} AS snapshot FROM ${Prisma.raw(memoryTables[type])} m
    WHERE tenant_id = ${transaction.tenantId} AND id = ${id}::uuid FOR UPDATE`;
  return row?.snapshot ?? null;
}
