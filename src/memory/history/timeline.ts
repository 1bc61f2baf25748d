import { listTimeline } from '../../db/queries/past-states.ts';
import type { MemoryType } from '../../db/tables.ts';
import type { MemoryContext } from '../context.ts';
import { factValidities } from '../facts/fact-values.ts';
import { checkPeriod, completeFilter, type FilterInput } from '../filter.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memories.ts';

export interface TimelineEntry {
  /** When it happened or began to hold. */
  at: Date;
  memory: StoredRow;
}

export interface TimelineChoice {
  types?: readonly MemoryType[] | null | undefined;
  /** Retracted facts are left out unless asked for. */
  filter?: FilterInput | null | undefined;
  from?: Date | null | undefined;
  to?: Date | null | undefined;
}

const notRetracted = factValidities.filter((validity) => validity !== 'retracted');

/** Lists memories by when they happened or began to hold, not by when they were stored; superseded facts too. */
export async function readTimeline(
  context: MemoryContext,
  { types, filter, from, to }: TimelineChoice,
  page: { offset: number; limit: number },
): Promise<{ entries: TimelineEntry[]; total: number }> {
  const query = {
    filter: completeFilter(context, { ...filter, types }, { validity: notRetracted, withDisabled: true }),
    ...checkPeriod({ from, to }),
  };
  const { rows, total } = await listTimeline(context.db.client, query, page);
  const memories = await loadMemories(context, rows);
  const entries = rows.flatMap(({ type, id, at }) => {
    const memory = memories.get(referenceKey({ type, id }));
    return memory === undefined ? [] : [{ at, memory }];
  });
  return { entries, total };
}
