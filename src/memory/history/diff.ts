import {
  countChangesBetween,
  listChangesBetween,
  type ChangeCount,
  type ChangeKind,
  type ChangeRow,
} from '../../db/queries/past-states.ts';
import type { MemoryType } from '../../db/tables.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { listChangedNames } from './history.ts';
import { openState } from '../../encryption/sealing.ts';
import { maskPast } from './past-hidden.ts';
import { toPastRow, type PastRow } from './snapshots.ts';
import { checkDate } from '../values.ts';

/** What became of one memory between two moments. */
export interface MemoryChange {
  type: MemoryType;
  id: string;
  kind: ChangeKind;
  eventCount: number;
  before: PastRow | null;
  after: PastRow | null;
  changes: string[];
}

export type { ChangeCount };

export interface Span {
  from: Date;
  to: Date;
  /** All of them when none is named. */
  types?: readonly MemoryType[] | null | undefined;
}

export async function listChanges(
  context: MemoryContext,
  span: Span,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ changes: MemoryChange[]; total: number }> {
  const { from, to, types } = checkSpan(span);
  const { rows, total } = await listChangesBetween(context.db.client, { from, to, types }, { offset, limit });
  return { changes: await Promise.all(rows.map((row) => toChange(context, row, { from, to }))), total };
}

async function toChange(
  context: MemoryContext,
  { type, id, kind, events, before, after }: ChangeRow,
  { from, to }: Pick<Span, 'from' | 'to'>,
): Promise<MemoryChange> {
  return {
    type,
    id,
    kind,
    eventCount: events,
    before: await toMasked(context, type, before, from),
    after: await toMasked(context, type, after, to),
    changes: await listChangedNames(context, before, after),
  };
}

async function toMasked(
  context: MemoryContext,
  type: MemoryType,
  state: ChangeRow['before'],
  at: Date,
): Promise<PastRow | null> {
  if (state === null) return null;
  const [row] = await maskPast(context, [toPastRow(type, await openState(context, state), at)]);
  return row ?? null;
}

export async function countChanges(context: MemoryContext, span: Span): Promise<ChangeCount[]> {
  return countChangesBetween(context.db.client, checkSpan(span));
}

export function checkSpan(span: Span): { from: Date; to: Date; types: readonly MemoryType[] | null } {
  checkDate('from', span.from);
  checkDate('to', span.to);
  if (span.to < span.from) throw invalidInput('to', 'not before from', span.to);
  const { from, to, types } = span;
  return { from, to, types: types == null || types.length === 0 ? null : types };
}
