import type { MemoryType } from '../../db/tables.ts';
import type { MemoryEvent } from '../../generated/prisma/client.ts';
import type { RedactionCounts, TextCut } from '../../redaction/redactor.ts';
import { toCamelCase } from '../../shared/names.ts';
import type { MemoryRow } from '../memories.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';

export interface EventPayload {
  before: Snapshot | null;
  after: Snapshot | null;
  /** How many of each kind were masked in what the caller gave. */
  redacted: RedactionCounts | null;
  /** Texts that were cut because they were too long. */
  cut: readonly TextCut[];
}

export function readPayload({ payload }: Pick<MemoryEvent, 'payload'>): EventPayload {
  const { before = null, after = null, redacted = null, cut = [] } = payload as unknown as Partial<EventPayload>;
  return { before, after, redacted, cut };
}

/** A memory as it was at a moment: a snapshot in the form of a row. */
export type PastRow = MemoryRow & {
  /** The moment that it is viewed at: its confidence has decayed until then. */
  viewedAt: Date;
};

/** References are counted in the row only, so a past row has none. */
const notInSnapshots = { referenceCount: 0, lastReferencedAt: null, lastShownAt: null };

export function toPastRow(type: MemoryType, snapshot: Snapshot, at: Date): PastRow {
  const entries = Object.entries(snapshot).map(([name, value]) => [toCamelCase(name), readValue(name, value)]);
  const row = Object.fromEntries(entries) as Record<string, unknown>;
  return { ...notInSnapshots, ...deriveValues(type, row), ...row, viewedAt: at } as unknown as PastRow;
}

function deriveValues(type: MemoryType, row: Record<string, unknown>): object {
  if (type === 'episode')
    // Events from before these columns do not have them.
    return {
      consolidated: row['consolidationStatus'] === 'consolidated',
      nothingFound: false,
      segments: [],
      hiddenSpans: {},
    };
  return type === 'fact' ? { referenceSessions: [] } : {};
}

function readValue(name: string, value: unknown): unknown {
  const isMoment = /_at$|^valid_(from|to)$/.test(name);
  return isMoment && typeof value === 'string' ? new Date(value) : value;
}

/** Returns the moment at which a row is viewed: its own for a past row, else now. */
export function viewedAt(row: object, now: Date): Date {
  return pastMoment(row) ?? now;
}

/** Returns the moment that a past row is of; null for a row as it is now. */
export function pastMoment(row: object): Date | null {
  return 'viewedAt' in row ? (row.viewedAt as Date) : null;
}
