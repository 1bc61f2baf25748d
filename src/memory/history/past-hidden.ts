import { listLastStates } from '../../db/queries/hidden-spans.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import { toCamelCase, toSnakeCase } from '../../shared/names.ts';
import type { MemoryContext } from '../context.ts';
import { maskFor } from '../forgetting/hidden-spans.ts';
import { onlyButlerOf } from '../reach.ts';

/**
 * Gives past memories what is hidden of them today, where a butler reads them: what was forgotten since is hidden in what
 * was before, too. The text of an episode never changes, so its offsets hold. One round trip.
 */
export async function withHidden<Row extends { id: string }>(
  context: MemoryContext,
  rows: readonly Row[],
): Promise<Row[]> {
  if (onlyButlerOf(context) === null || rows.length === 0) return [...rows];
  const states = await listLastStates(context.db.client, [...new Set(rows.map(({ id }) => id))]);
  return rows.map((row) => {
    const { hidden = {}, isForgotten = false } = states.get(row.id) ?? {};
    const hiddenSpans = 'consolidationStatus' in row && { hiddenSpans: hidden };
    return { ...row, ...hiddenSpans, forgottenSince: isForgotten };
  });
}

/** The same, masked. */
export async function maskPast<Row extends { id: string }>(
  context: MemoryContext,
  rows: readonly Row[],
): Promise<Row[]> {
  return (await withHidden(context, rows)).map((row) => maskFor(context, row));
}

const memoryColumns = ['consolidation_status', 'predicate', 'maturity'];

/** The same of a row as events keep it. */
export async function maskSnapshot(context: MemoryContext, snapshot: Snapshot): Promise<Snapshot> {
  const { id } = snapshot;
  const isMemory = memoryColumns.some((column) => column in snapshot);
  if (typeof id !== 'string' || !isMemory || onlyButlerOf(context) === null) return snapshot;
  const row = renameKeys(snapshot, toCamelCase) as { id: string };
  const [masked = row] = await maskPast(context, [row]);
  const { hidden_spans: _spans, forgotten_since: _since, ...told } = renameKeys(masked, toSnakeCase);
  return told as Snapshot;
}

function renameKeys(row: object, rename: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [rename(name), value as unknown]));
}
