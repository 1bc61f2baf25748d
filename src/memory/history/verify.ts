import type { TenantClient } from '../../db/database.ts';
import { memoryTypes } from '../../db/tables.ts';
import {
  compareApplications,
  compareCounters,
  compareLinks,
  compareMemories,
  compareQuarantine,
  compareReviews,
  compareRuns,
  type ReplayedRow,
} from '../../db/queries/replay.ts';
import { MemoryError } from '../../shared/errors.ts';
import { toCamelCase } from '../../shared/names.ts';
import type { KeyContext } from '../../encryption/data-keys.ts';
import { changedNames } from './history.ts';
import { openSnapshot } from '../../encryption/sealing.ts';

export interface Difference {
  type: string;
  id: string;
  /** The columns that differ; all of them when the row or its events are missing. */
  columns: string[];
}

/**
 * Finds where the tables differ from what the events add up to: nothing, unless something wrote past the core. With a
 * moment, finds where the events up to it differ from what the later events found.
 */
export async function findDifferences(context: KeyContext, at?: Date): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { type, compare } of chooseComparisons(at)) {
    for (const row of await compare(context.db.client)) {
      const { id, stored, replayed } = row;
      const columns = isSealed(row) ? await compareOpened(context, row) : changedNames(replayed, stored);
      if (columns !== null) differences.push({ type, id, columns });
    }
  }
  return differences;
}

interface Comparison {
  type: string;
  compare: (client: TenantClient) => Promise<ReplayedRow[]>;
}

/** The last four compare with the present only: their events do not say what they found. */
function chooseComparisons(at: Date | undefined): Comparison[] {
  const atAnyMoment = [
    ...memoryTypes.map((type) => ({ type, compare: (client: TenantClient) => compareMemories(client, type, at) })),
    { type: 'link', compare: (client: TenantClient) => compareLinks(client, at) },
  ];
  if (at !== undefined) return atAnyMoment;
  return [
    ...atAnyMoment,
    { type: 'rule_application', compare: compareApplications },
    { type: 'applications of rule', compare: compareCounters },
    { type: 'consolidation_run', compare: compareRuns },
    { type: 'review', compare: compareReviews },
    { type: 'quarantined_item', compare: compareQuarantine },
  ];
}

function isSealed({ stored, replayed }: ReplayedRow): boolean {
  return stored !== null && replayed !== null && (stored['data_key_id'] ?? replayed['data_key_id'] ?? null) !== null;
}

/** Compares opened facts, because sealing writes no event. Returns null when they say the same. */
async function compareOpened(context: KeyContext, { stored, replayed }: ReplayedRow): Promise<string[] | null> {
  try {
    const [row, event] = [await openSnapshot(context, stored ?? {}), await openSnapshot(context, replayed ?? {})];
    const names = Object.keys(event).filter(
      (name) => name in row && JSON.stringify(row[name]) !== JSON.stringify(event[name]),
    );
    return names.length === 0 ? null : names.filter((name) => name !== 'version').map(toCamelCase);
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== 'UNREADABLE') throw error;
    return ['sealedContent'];
  }
}
