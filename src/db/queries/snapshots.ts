import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

/**
 * What events do not keep of a row: vectors (made again from the text), generated columns (follow from the others),
 * references (counted, not told one by one) and the run that an episode was consolidated by (its event names its cause).
 */
const leftOut = [
  'embedding',
  'embedding_version_id',
  'alternate_embedding',
  'alternate_embedding_version_id',
  'search_vector',
  'subject_key',
  'predicate_key',
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

/** With `lock`, no other transaction changes the row before this one ends. */
export function selectSnapshot(type: MemoryType, tenantId: string, id: string, lock: boolean): Prisma.Sql {
  return Prisma.sql`
    SELECT ${snapshotOf('m')} AS snapshot FROM ${Prisma.raw(memoryTables[type])} m
    WHERE tenant_id = ${tenantId} AND id = ${id}::uuid ${Prisma.raw(lock ? 'FOR UPDATE' : '')}`;
}
