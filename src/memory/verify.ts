import { memoryTypes } from '../db/sql/memory-snapshot.ts';
import { replayDifferences, replayDifferencesOfLinks } from '../db/sql/replay-differences.ts';
import type { MemoryContext } from './context.ts';
import { changedNames } from './history.ts';
import type { Snapshot } from './mutation.ts';

export interface Difference {
  type: string;
  id: string;
  /** What the row and its events disagree about; the whole row when one of the two is missing. */
  columns: string[];
}

/**
 * Where the tables are not what the events add up to. Nothing, or something wrote past the core. As of a moment, where what
 * was told until then is not what the later events found.
 */
export async function findDifferences(
  context: Pick<MemoryContext, 'db' | 'principal'>,
  at?: Date,
): Promise<Difference[]> {
  const { tenantId } = context.principal;
  const statements = [
    ...memoryTypes.map((type) => ({ type: type as string, sql: replayDifferences(tenantId, type, at) })),
    { type: 'link', sql: replayDifferencesOfLinks(tenantId, at) },
  ];
  const differences: Difference[] = [];
  for (const { type, sql } of statements) {
    const rows = await context.db
      .tenant(tenantId)
      .$queryRaw<{ id: string; stored: Snapshot | null; told: Snapshot | null }[]>(sql);
    for (const { id, stored, told } of rows) differences.push({ type, id, columns: changedNames(told, stored) });
  }
  return differences;
}
