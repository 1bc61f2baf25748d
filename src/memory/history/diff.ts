import { changesBetween, countChangesBetween, type ChangeKind } from '../../db/sql/changes-between.ts';
import { splitPage, type PageRow } from '../../db/sql/page-with-total.ts';
import type { MemoryType } from '../../db/tables.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { namesOfChanges } from './history.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import { openState } from '../sealing.ts';
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

export interface Span {
  from: Date;
  to: Date;
  /** All of them when none is named. */
  types?: readonly MemoryType[] | null | undefined;
}

export interface ChangeCount {
  type: MemoryType;
  kind: ChangeKind;
  count: number;
}

interface ChangeRow extends PageRow {
  type: MemoryType;
  id: string;
  kind: ChangeKind;
  events: number;
  before: Snapshot | null;
  after: Snapshot | null;
}

export async function listChanges(
  context: MemoryContext,
  span: Span,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ changes: MemoryChange[]; total: number }> {
  const { tenantId } = context.principal;
  const { from, to, types } = checkSpan(span);
  const found = await context.db.client.$queryRaw<ChangeRow[]>(
    changesBetween({ tenantId, from, to, types, offset, limit }),
  );
  const { rows, total } = splitPage(found);
  return { changes: await Promise.all(rows.map((row) => changeOf(context, row, { from, to }))), total };
}

async function changeOf(
  context: MemoryContext,
  { type, id, kind, events, before, after }: ChangeRow,
  { from, to }: Pick<Span, 'from' | 'to'>,
): Promise<MemoryChange> {
  return {
    type,
    id,
    kind,
    eventCount: events,
    before: before === null ? null : toPastRow(type, await openState(context, before), from),
    after: after === null ? null : toPastRow(type, await openState(context, after), to),
    changes: await namesOfChanges(context, before, after),
  };
}

export async function countChanges(context: MemoryContext, span: Span): Promise<ChangeCount[]> {
  const { tenantId } = context.principal;
  const { from, to, types } = checkSpan(span);
  return context.db.client.$queryRaw<ChangeCount[]>(countChangesBetween({ tenantId, from, to, types }));
}

export function checkSpan(span: Span): { from: Date; to: Date; types: readonly MemoryType[] | null } {
  checkDate('from', span.from);
  checkDate('to', span.to);
  if (span.to < span.from) throw invalidInput('to', 'not before from', span.to);
  const { from, to, types } = span;
  return { from, to, types: types == null || types.length === 0 ? null : types };
}
