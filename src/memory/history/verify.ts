import { memoryTypes } from '../../db/tables.ts';
import {
  differencesOfCounters,
  replayDifferences,
  replayDifferencesOfApplications,
  replayDifferencesOfLinks,
  replayDifferencesOfRuns,
} from '../../db/sql/replay-differences.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { toCamelCase } from '../../shared/names.ts';
import type { KeyContext } from '../data-keys.ts';
import { changedNames } from './history.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import { openSnapshot } from '../sealing.ts';

export interface Difference {
  type: string;
  id: string;
  /** What the row and its events disagree about; the whole row when one of the two is missing. */
  columns: string[];
}

interface ReplayedRow {
  id: string;
  stored: Snapshot | null;
  told: Snapshot | null;
}

/**
 * Where the tables are not what the events add up to. Nothing, or something wrote past the core. As of a moment, where what
 * was reported until then is not what the later events found.
 */
export async function findDifferences(context: KeyContext, at?: Date): Promise<Difference[]> {
  const { tenantId } = context.principal;
  const statements = [
    ...memoryTypes.map((type) => ({ type: type as string, sql: replayDifferences(tenantId, type, at) })),
    { type: 'link', sql: replayDifferencesOfLinks(tenantId, at) },
    ...(at === undefined ? presentOnly(tenantId) : []),
  ];
  const differences: Difference[] = [];
  for (const { type, sql } of statements) {
    const rows = await context.db.client.$queryRaw<ReplayedRow[]>(sql);
    for (const row of rows) {
      const columns = isSealed(row) ? await differencesOfSealed(context, row) : changedNames(row.told, row.stored);
      if (columns !== null) differences.push({ type, id: row.id, columns });
    }
  }
  return differences;
}

/** Their events tell how each was left, and not what they found there: of a moment that is over nothing can be said. */
function presentOnly(tenantId: string): { type: string; sql: Prisma.Sql }[] {
  return [
    { type: 'rule_application', sql: replayDifferencesOfApplications(tenantId) },
    { type: 'applications of rule', sql: differencesOfCounters(tenantId) },
    { type: 'consolidation_run', sql: replayDifferencesOfRuns(tenantId) },
  ];
}

function isSealed({ stored, told }: ReplayedRow): boolean {
  return stored !== null && told !== null && (stored['data_key_id'] ?? told['data_key_id'] ?? null) !== null;
}

/** A fact that was sealed or sealed anew says what it said, and no event tells of it. Null when nothing else differs. */
async function differencesOfSealed(context: KeyContext, { stored, told }: ReplayedRow): Promise<string[] | null> {
  try {
    const [row, event] = [await openSnapshot(context, stored ?? {}), await openSnapshot(context, told ?? {})];
    const names = Object.keys(event).filter(
      (name) => name in row && JSON.stringify(row[name]) !== JSON.stringify(event[name]),
    );
    return names.length === 0 ? null : names.filter((name) => name !== 'version').map(toCamelCase);
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== 'UNREADABLE') throw error;
    return ['sealedContent'];
  }
}
