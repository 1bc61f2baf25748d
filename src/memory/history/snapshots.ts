import type { MemoryType } from '../../db/tables.ts';
import { toCamelCase } from '../../shared/names.ts';
import type { MemoryRow } from '../memories.ts';
import type { Snapshot } from '../mutation.ts';

/** A memory as it was: what an event kept, in the form of a row. */
export type PastRow = MemoryRow & {
  /** The moment it is seen at: its confidence has decayed until then, and no further. */
  viewedAt: Date;
};

/** What events do not keep: references are counted now and were not told one by one. */
const notKept = { referenceCount: 0, lastReferencedAt: null, lastShownAt: null };

export function rowOf(type: MemoryType, snapshot: Snapshot, at: Date): PastRow {
  const entries = Object.entries(snapshot).map(([name, value]) => [toCamelCase(name), valueOf(name, value)]);
  const row = Object.fromEntries(entries) as Record<string, unknown>;
  return { ...notKept, ...ownOf(type, row), ...row, viewedAt: at } as unknown as PastRow;
}

/** What an event does not keep of one type. */
function ownOf(type: MemoryType, row: Record<string, unknown>): object {
  if (type === 'episode') return { consolidated: row['consolidationStatus'] === 'consolidated' };
  return type === 'fact' ? { referenceSessions: [] } : {};
}

/** The moment a memory is looked at: a past one, or now. */
export function viewedAt(row: object, now: Date): Date {
  return 'viewedAt' in row ? (row.viewedAt as Date) : now;
}

function valueOf(name: string, value: unknown): unknown {
  const isMoment = /_at$|^valid_(from|to)$/.test(name);
  return isMoment && typeof value === 'string' ? new Date(value) : value;
}
