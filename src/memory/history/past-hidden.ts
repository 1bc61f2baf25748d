import { listLastHidden } from '../../db/queries/hidden-spans.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import type { MemoryContext } from '../context.ts';
import { maskFor } from '../hidden-spans.ts';
import { onlyButlerOf } from '../reach.ts';

/**
 * Gives past episodes the hidden spans of today, where a butler reads them: what was forgotten since is hidden in what was
 * before, too. The text of an episode never changes, so its offsets hold. One round trip.
 */
export async function withHidden<Row extends { id: string }>(
  context: MemoryContext,
  rows: readonly Row[],
): Promise<Row[]> {
  const ids = rows.filter((row) => 'consolidationStatus' in row).map(({ id }) => id);
  if (onlyButlerOf(context) === null || ids.length === 0) return [...rows];
  const hidden = await listLastHidden(context.db.client, ids);
  return rows.map((row) => (ids.includes(row.id) ? { ...row, hiddenSpans: hidden.get(row.id) ?? {} } : row));
}

/** The same, masked. */
export async function maskPast<Row extends { id: string }>(
  context: MemoryContext,
  rows: readonly Row[],
): Promise<Row[]> {
  return (await withHidden(context, rows)).map((row) => maskFor(context, row));
}

/** The same of a row as events keep it. */
export async function maskSnapshot(context: MemoryContext, snapshot: Snapshot): Promise<Snapshot> {
  const { id } = snapshot;
  if (typeof id !== 'string' || !('consolidation_status' in snapshot) || onlyButlerOf(context) === null)
    return snapshot;
  const hidden = await listLastHidden(context.db.client, [id]);
  const { hiddenSpans: _none, ...masked } = maskFor(context, { ...snapshot, hiddenSpans: hidden.get(id) ?? {} });
  return masked;
}
